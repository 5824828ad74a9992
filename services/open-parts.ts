import { createRepositories } from '#shared/db/create-repositories.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { ClosableNotifier } from '#shared/queues/queue-notifier.ts'
import { after } from '#shared/runtime/process/timers.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createMarks } from '#shared/usecases/marks/marks.ts'
import type { ServiceContext, ServiceParts } from './context.ts'

/** The keys that sign marks; null in a process without the master key. */
export function markKeysOf({ config }: Pick<ServiceContext, 'config'>): AuditKeys | null {
  return config.reads('PAYMESH_MASTER_KEY') ? createMarkKeys(config.secrets.masterKey) : null
}

/** The parts of a process on its open connections. The caller closes the queue notifier last, when nothing sends wake-ups any more. */
export function openParts(context: ServiceContext): ServiceParts & { readonly notifier: ClosableNotifier } {
  const { db, signals, markPlaces, clock, random, logger, metrics, pauses, pulses, tracer } = context
  const runtime = { clock, random, logger, metrics, pauses, pulses, tracer }
  const repositories = createRepositories(db, runtime)
  const { installationLife } = repositories
  return {
    ...runtime,
    ...repositories,
    marks: createMarks({ markPlaces, markKeys: markKeysOf(context), installationLife }),
    notifier: signals.openNotifier(runtime),
    after,
    startWorker: (options) => signals.startWorker(runtime, options),
  }
}
