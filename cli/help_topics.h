// The topics of `heaptide help TOPIC`: what the words in a report mean.
#ifndef HT_HELP_TOPICS_H
#define HT_HELP_TOPICS_H

struct help_topic {
  const char *name;
  const char *summary; // one line of `heaptide help`
  const char *text;
};

extern const struct help_topic help_topics[]; // ended by one without a name

const struct help_topic *help_topic_find(const char *name); // NULL: there is none

#endif
