// The text of `heaptide help NAME`.
#ifndef HT_HELP_H
#define HT_HELP_H

extern const char help_run[], help_report[], help_doctor[], help_help[];

#endif
