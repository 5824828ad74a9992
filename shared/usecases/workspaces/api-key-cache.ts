import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { ApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { parseApiKey } from '#shared/domain/api-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Admission } from '#shared/ports/rate-limit.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Store, Uses } from '#shared/usecases/uses.ts'

/** Longest life of a cached record. A revocation takes this long when Redis cannot spread it. */
const CACHE_LIFE_MS: Ms = 5_000
/** Most keys cached; the oldest entry is dropped first. */
const CACHE_MAX = 20_000

/** A valid API key with its workspace. */
export interface Credential {
  readonly key: ApiKeyRecord
  readonly workspace: Workspace
  /** Read from the store for this very request: only a higher epoch makes it outdated. */
  readonly fresh: { readonly key: boolean; readonly workspace: boolean }
}

/** Finds the credential of a request. */
export type KeyRing = ReturnType<typeof createKeyRing>

type KeyRingDeps = Uses<'hasher' | 'clock'> & {
  readonly workspaces: Pick<Store['workspaces'], 'findById'>
  readonly keys: Pick<ApiKeyRepository, 'findByHash'>
}

/** A key ring with its own small cache; one per process. */
export function createKeyRing(deps: KeyRingDeps) {
  const keys = createCache<ApiKeyRecord>(deps.clock)
  const workspaces = createCache<Workspace>(deps.clock)

  async function readKey(hash: string): Promise<ApiKeyRecord | null> {
    const key = await deps.keys.findByHash(hash)
    return key === null || key.revokedAt !== null ? null : key
  }

  return {
    /** Reads everything again from now on: the epochs used for comparison are lost. */
    forgetAll(): void {
      keys.clear()
      workspaces.clear()
    },

    /** The credential of an API key text, at most 5 s old; null for malformed, unknown and revoked keys. */
    async find(apiKey: string): Promise<Credential | null> {
      if (parseApiKey(apiKey) === null) return null
      const hash = deps.hasher.hash(apiKey)
      const knownKey = keys.get(hash)
      const key = knownKey ?? (await readKey(hash))
      if (key === null) return null
      const knownWorkspace = workspaces.get(key.workspaceId)
      const workspace = knownWorkspace ?? (await deps.workspaces.findById(key.workspaceId))
      if (workspace === null) return null
      if (knownKey === undefined) keys.set(hash, key)
      if (knownWorkspace === undefined) workspaces.set(workspace.id, workspace)
      return { key, workspace, fresh: { key: knownKey === undefined, workspace: knownWorkspace === undefined } }
    },

    /**
     * Checks a credential against the epochs that the rate limiter read and reads the store again when they differ or are
     * unknown. Null when the key was revoked in the meantime: a cached record never outlives a revocation.
     */
    async confirm(
      credential: Credential,
      { keyEpoch, workspaceEpoch }: Pick<Admission, 'keyEpoch' | 'workspaceEpoch'>,
    ): Promise<Credential | null> {
      const { key, workspace, fresh } = credential
      const keyHolds = isCurrent(key.epoch, keyEpoch, fresh.key)
      const workspaceHolds = isCurrent(workspace.epoch, workspaceEpoch, fresh.workspace)
      if (keyHolds && workspaceHolds) return credential
      // Dropped rather than replaced: the next request reads again and thereby publishes the epochs.
      if (!keyHolds) keys.delete(key.hash)
      if (!workspaceHolds) workspaces.delete(workspace.id)
      const keyNow = keyHolds ? key : await readKey(key.hash)
      const workspaceNow = workspaceHolds ? workspace : await deps.workspaces.findById(workspace.id)
      if (keyNow === null || workspaceNow === null) return null
      return { key: keyNow, workspace: workspaceNow, fresh: { key: true, workspace: true } }
    },
  }
}

function isCurrent(known: number, seen: number | null, fresh: boolean): boolean {
  return seen === known || (fresh && (seen === null || seen < known))
}

function createCache<T>(clock: Clock) {
  const entries = new Map<string, { readonly value: T; readonly readAt: Ms }>()
  return {
    get(id: string): T | undefined {
      const entry = entries.get(id)
      if (entry === undefined) return undefined
      return Math.abs(clock.now() - entry.readAt) < CACHE_LIFE_MS ? entry.value : undefined
    },
    set(id: string, value: T): void {
      entries.delete(id)
      entries.set(id, { value, readAt: clock.now() })
      const oldest = entries.size > CACHE_MAX ? entries.keys().next().value : undefined
      if (oldest !== undefined) entries.delete(oldest)
    },
    delete: (id: string) => entries.delete(id),
    clear: () => entries.clear(),
  }
}

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
