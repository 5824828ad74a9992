import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { ApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Precision of a key's last use: people look for unused keys, so seconds do not matter. */
export const KEY_USE_STEP_MS: Ms = 5 * 60_000
/** Uses of all keys within this time are recorded by one write. */
const GATHER_MS: Ms = 10_000

/** Records when API keys are used, without delaying the requests that use them. */
export type KeyUse = ReturnType<typeof createKeyUse>

type KeyUseDeps = Uses<'clock' | 'logger' | 'after'> & {
  readonly keys: Pick<ApiKeyRepository, 'noteUse'>
}

/** One per process. */
export function createKeyUse({ keys, clock, logger, after }: KeyUseDeps) {
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
      logger.debug({ err: error, keys: ids.length }, 'the use of API keys was not recorded')
    }
  }
  return {
    /** Returns at once. A use that cannot be recorded is dropped; the key's next one is recorded instead. */
    note: ({ id, lastUsedAt }: Pick<ApiKeyRecord, 'id' | 'lastUsedAt'>): void => {
      if (lastUsedAt !== undefined && clock.now() - lastUsedAt < KEY_USE_STEP_MS) return
      used.add(id)
      cancel ??= after(GATHER_MS, () => void flush())
    },

    /** Records the uses that still wait. */
    close: flush,
  }
}
