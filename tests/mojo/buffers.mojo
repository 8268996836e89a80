# Loses 5 device buffers of 1 MiB and 3 host buffers of 40 KiB; a sixth of 2 MiB goes back.
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from std.memory import alloc, Layout


@no_inline
def lose_device(ctx: DeviceContext) raises:
    var keep = alloc(Layout[DeviceBuffer[DType.uint8]](count=1)).unsafe_leak()
    keep.unsafe_write(ctx.enqueue_create_buffer[DType.uint8](1 << 20))  # @device


@no_inline
def lose_host(ctx: DeviceContext) raises:
    var keep = alloc(Layout[HostBuffer[DType.uint8]](count=1)).unsafe_leak()
    keep.unsafe_write(ctx.enqueue_create_host_buffer[DType.uint8](40960))  # @host


def main() raises:
    var ctx = DeviceContext(api="hip")
    for _ in range(5):
        lose_device(ctx)
    for _ in range(3):
        lose_host(ctx)
    var freed = ctx.enqueue_create_buffer[DType.uint8](2 << 20)
    freed.enqueue_fill(7)
    ctx.synchronize()
    print("done")
