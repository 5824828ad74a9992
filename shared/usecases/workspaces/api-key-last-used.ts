import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ApiKeyRecord, ApiKeyRepository } from '#shared/ports/api-keys.ts'
import type { Clock, Logger } from '#shared/ports/runtime.ts'
import type { After } from '#shared/ports/timers.ts'

/** A key's last use is known to within this long: people look for keys that nobody uses, not for the second. */
export const KEY_USE_STEP_MS: Ms = 5 * 60_000
/** Uses of all keys within this long are noted by one write. */
const GATHER_MS: Ms = 10_000

/** Notes when API keys are used, beside the requests that use them and never in their way. */
export interface KeyUse {
  /** Returns at once. A use that cannot be noted is forgotten; the key's next one is noted instead. */
  note(key: Pick<ApiKeyRecord, 'id' | 'lastUsedAt'>): void
  /** Notes what still waits. */
  close(): Promise<void>
}

interface KeyUseDeps {
  readonly keys: Pick<ApiKeyRepository, 'noteUse'>
  readonly clock: Clock
  readonly logger: Logger
  readonly after: After
}

/** One per process. */
export function createKeyUse({ keys, clock, logger, after }: KeyUseDeps): KeyUse {
  let used = new Set<string>()
  let cancel: (() => void) | null = null
  const flush = async (): Promise<void> => {
    cancel?.()
    cancel = null
    const ids = [...used]
    used = new Set()
    if (ids.length === 0) return
    try {
      await keys.noteUse(ids, clock.now())
    } catch (error) {
      logger.debug({ err: error, keys: ids.length }, 'the use of API keys was not noted')
    }
  }
  return {
    note: ({ id, lastUsedAt }) => {
      if (lastUsedAt !== undefined && clock.now() - lastUsedAt < KEY_USE_STEP_MS) return
      used.add(id)
      cancel ??= after(GATHER_MS, () => void flush())
    },
    close: flush,
  }
}
