// The text of `heaptide help NAME`.
#ifndef HT_HELP_H
#define HT_HELP_H

extern const char help_run[], help_snapshot[], help_top[], help_attach[], help_detach[], help_report[], help_flame[],
    help_diff[], help_export[], help_doctor[], help_help[];

#endif
