import { BEAT, ceilingOf, nextOf, numberOf } from '#shared/domain/marks/mark-fields.ts'
import type { InstallationLife, MarkPlace, Marks } from '#shared/ports/marks.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type MarkReading, otherLives, readMarks, writeMarks } from './mark-records.ts'
import type { MarkKeys } from './mark-text.ts'

/** Dependencies of marks outside the store. */
export type MarksDeps = Uses<'installationLife'> & {
  readonly markPlaces: readonly MarkPlace[]
  readonly markKeys: MarkKeys
}

/**
 * The marks of this installation. Each reading of a place comes before the reading of the store with which it is compared: marks only grow,
 * so a store that is behind the older reading has gone back in time. Without a place that answers, nothing is held up.
 */
export function createMarks(deps: MarksDeps): Marks {
  const { markPlaces: places, markKeys: keys, installationLife } = deps
  /** Names the record; the store's beat is read after the marks. */
  let identity: InstallationLife | null = null

  const read = async (fields: readonly string[]): Promise<MarkReading & { readonly isStoreBehind: boolean }> => {
    for (;;) {
      identity ??= await installationLife.read()
      const reading = await readMarks(places, identity, [BEAT, ...fields], keys)
      const now = await installationLife.read()
      const isSame = now.installation === identity.installation && now.life === identity.life
      identity = now
      if (isSame) return { ...reading, isStoreBehind: (reading.marks.get(BEAT)?.value ?? 0) > now.beat }
    }
  }

  return {
    lowestNextIndex: async (materialId) => {
      if (places.length === 0) return 0
      const { marks, isStoreBehind } = await read([nextOf(materialId)])
      return isStoreBehind ? null : (marks.get(nextOf(materialId))?.value ?? 0)
    },
    lowestNumber: async (workspaceId, mode) => {
      if (places.length === 0) return 0
      const { marks, isStoreBehind } = await read([numberOf(workspaceId, mode)])
      return isStoreBehind ? (marks.get(numberOf(workspaceId, mode))?.value ?? 0) : 0
    },
    firstFreeIndex: async (materialId) => {
      if (places.length === 0) return 0
      const field = ceilingOf(materialId)
      const { marks } = await read([field])
      // Also what another life issued: its marks are here even if the restore that began this one could not write.
      const lives = identity === null ? [] : await otherLives(places, identity)
      const others = await Promise.all(lives.map((life) => readMarks(places, life, [field], keys)))
      return Math.max(...[marks, ...others.map((other) => other.marks)].map((each) => each.get(field)?.value ?? 0))
    },
    lostWallets: installationLife.lostWallets,
    raiseCeiling: async (materialId, derivedCount) => {
      if (places.length === 0 || keys === null) return
      identity ??= await installationLife.read()
      await writeMarks(places, identity, [{ field: ceilingOf(materialId), value: derivedCount }], keys)
    },
    isStoreBehind: async () => places.length > 0 && (await read([])).isStoreBehind,
  }
}

/** Marks where there is no place for them. */
export const NO_MARKS: Marks = createMarks({
  markPlaces: [],
  markKeys: null,
  installationLife: {
    read: () => Promise.reject(new Error('without a place for marks the life of the store is not read')),
    beat: () => Promise.resolve(false),
    lostWallets: () => Promise.resolve(null),
  },
})
