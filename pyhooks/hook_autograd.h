// Which pass of PyTorch's autograd engine a thread works for.
#ifndef HT_HOOK_AUTOGRAD_H
#define HT_HOOK_AUTOGRAD_H

// From now on passes are followed.
void hook_autograd_start(void);

#endif
