import { expect, it } from 'vitest'
import type { ChainedAudit } from '#shared/ports/audit-chain.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { standIn } from '#test/support/stand-in.ts'
import { createAuditMarks } from './audit-marks.ts'

const ROWS = 1_200

/** A place in memory, and a log in which every row takes something back. */
function stage(places: number) {
  const held = Array.from({ length: places }, () => new Map<string, string>())
  let raises = 0
  let fails = (_raise: number, _place: number): boolean => false
  const markPlaces = held.map(
    (texts, at): MarkPlace => ({
      name: 'redis',
      read: async (_record, fields) =>
        new Map([...texts].filter(([field]) => fields === 'all' || fields.includes(field)).map(([f, t]) => [f, [t]])),
      lives: async () => [],
      raise: async (_record, more) => {
        raises += 1
        if (fails(raises, at)) throw new Error('away')
        for (const [field, text] of more) texts.set(field, text)
      },
      remove: async () => undefined,
    }),
  )
  const rows = Array.from({ length: ROWS }, (_, at) => ({
    seq: at + 1,
    record: { id: `row-${at + 1}`, action: 'api_key.revoked' },
  })) as unknown as readonly ChainedAudit[]
  const marks = createAuditMarks({
    markPlaces,
    markKeys: createMarkKeys(new Uint8Array(32).fill(7)),
    installationLife: {
      read: async () => ({ installation: 'i', life: 'l', beat: 1 }),
      beat: async () => true,
      lostWallets: async () => null,
    },
    auditChain: standIn({
      listChained: async (after, limit) => rows.filter(({ seq }) => seq > (after?.seq ?? 0)).slice(0, limit),
    }),
  })
  return {
    marks,
    held,
    failWhen: (when: typeof fails) => {
      fails = when
    },
  }
}
const takenBack = (texts: ReadonlyMap<string, string> | undefined) =>
  [...(texts ?? [])].filter(([field]) => field.startsWith('taken-back:')).length

it.each([1, 2])('never raises the number above rows that a place missed half way (%s places)', async (places) => {
  const { marks, held, failWhen } = stage(places)
  // The second page does not arrive in the first place.
  failWhen((raise, place) => raise > places && raise <= 2 * places && place === 0)
  await marks.raise(ROWS)
  failWhen(() => false)
  await marks.raise(ROWS)
  for (const texts of held) expect(takenBack(texts)).toBe(ROWS)
})
