import { createRepositories } from '#shared/db/create-repositories.ts'
import type { ClosableNotifier } from '#shared/queues/queue-notifier.ts'
import { after } from '#shared/runtime/process/after.ts'
import type { ServiceContext, ServiceParts } from './context.ts'

/** The parts of a process on its open connections. The caller closes the queue notifier last, when nothing sends wake-ups any more. */
export function openParts(context: ServiceContext): ServiceParts & { readonly notifier: ClosableNotifier } {
  const { db, signals, clock, random, logger, metrics, pauses, pulses, tracer } = context
  const runtime = { clock, random, logger, metrics, pauses, pulses, tracer }
  return {
    ...runtime,
    ...createRepositories(db, runtime),
    notifier: signals.openNotifier(runtime),
    after,
    startWorker: (options) => signals.startWorker(runtime, options),
  }
}
