import type { QueueNotifier } from '#shared/ports/runtime.ts'
import { createQueueNotifier } from '#shared/queues/queue-notifier.ts'
import type { Installation } from './installation.ts'

/** Runs `work` with a queue notifier and sends its wake-ups before it returns. */
export async function withNotifier<T>(
  installation: Installation,
  work: (deps: Installation & { readonly notifier: QueueNotifier }) => Promise<T>,
): Promise<T> {
  // Without Redis the sweeps find the work, within about a second.
  if (installation.redis === null) return await work({ ...installation, notifier: { notify: () => undefined } })
  const notifier = createQueueNotifier(installation.redis, installation)
  try {
    return await work({ ...installation, notifier })
  } finally {
    await notifier.close()
  }
}
