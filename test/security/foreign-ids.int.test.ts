import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { appRouter } from '#services/admin/app-router.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { IDEMPOTENCY_KEYS } from '#shared/db/requests/idempotency-model.ts'
import { citationProblem } from '#test/support/citations.ts'
import { deepTest } from '#test/support/depth.ts'
import { digestOf } from '#test/support/store-digest.ts'
import { useStores } from '#test/support/stores.ts'
import { textFields } from '#test/support/text-fields.ts'
import { twoTenants } from '#test/support/two-tenants.ts'
import { type Exempt, FOREIGN_IDS, type ForeignTry } from './foreign-ids.ts'
import { stockedShop, type Tenant, unknownIds } from './foreign-world.ts'

const stores = useStores()
const world = twoTenants(stores)
let alice: Tenant
let bob: Tenant
beforeAll(async () => {
  await world.open()
  await world.empty()
  alice = await stockedShop(stores, world, await world.shop('alice'), { isProved: false })
  bob = await stockedShop(stores, world, await world.shop('bob'), { isProved: true })
}, 180_000)

const TRIES = Object.entries(FOREIGN_IDS).filter((entry): entry is [string, ForeignTry] => 'call' in entry[1])
const EXEMPT = Object.entries(FOREIGN_IDS).filter((entry): entry is [string, Exempt] => 'because' in entry[1])

type Procedures = Readonly<Record<string, { readonly _def: { readonly inputs: readonly z.ZodType[] } }>>
/** Parts of every input: the workspace is checked by the gate, and an `opId` and a reason name nothing. */
const EVERYWHERE = ['workspaceId', 'opId', 'reason']
const fieldsOf = (procedures: Procedures) =>
  Object.entries(procedures).flatMap(([path, { _def }]) =>
    [...new Set(_def.inputs.flatMap(textFields))]
      .filter((field) => !EVERYWHERE.includes(field))
      .map((field) => `${path} ${field}`),
  )

/** What the caller sees, whether it is an answer or a refusal, without the id that was sent. */
async function seen({ call }: ForeignTry, who: Tenant, id: string): Promise<string> {
  const text = await call(who, id).then(
    (answer) => JSON.stringify({ answer }),
    ({ code, message, cause }: { code: string; message: string; cause?: { code?: string; details?: unknown } }) =>
      JSON.stringify({ code, message, cause: cause?.code, details: cause?.details }),
  )
  return id.split(' ').reduce((shown, part) => shown.replaceAll(part, '<id>'), text)
}

describe('every text that a procedure takes', () => {
  it('is tried as an id of another workspace, or says why there is nothing to try', () => {
    const fields = fieldsOf(appRouter._def.procedures as unknown as Procedures)
    expect(fields.length).toBeGreaterThan(100)
    expect(fields.filter((field) => FOREIGN_IDS[field] === undefined)).toEqual([])
    expect(Object.keys(FOREIGN_IDS).filter((field) => !fields.includes(field))).toEqual([])
  })

  it('is exempt only for a reason, and by tests that exist', () => {
    for (const [field, { because, shownBy }] of EXEMPT) {
      expect(because.length, field).toBeGreaterThan(20)
      expect(shownBy === undefined ? null : citationProblem(shownBy), field).toBeNull()
      // An id never passes for words.
      expect(/Ids?(\[\])?$| id$/.test(field) && shownBy === undefined ? field : '').toBe('')
    }
  })
})

// Guarantee: whatever a tenant names of another's, the answer is that of what never was, and nothing changes.
it('an id of another workspace is answered as one that never was, and changes nothing', {
  timeout: 180_000,
}, async () => {
  const rowsOfAlice = () => stores.db.collection(AUDIT_LOG).find({ workspaceId: alice.workspaceId }).toArray()
  // A try adds an audit row and an idempotency key of the person who tries; those stored before stay as they are.
  const added = [AUDIT_LOG.name, IDEMPOTENCY_KEYS.name]
  const stored = async () =>
    (await digestOf(stores)).filter((line) => !added.some((name) => line.startsWith(`${name} `)))
  const keys = stores.db.collection(IDEMPOTENCY_KEYS)
  const keysBefore = await keys.find().sort({ _id: 1 }).toArray()
  const keptKeys = () =>
    keys
      .find({ _id: { $in: keysBefore.map(({ _id }) => _id) } })
      .sort({ _id: 1 })
      .toArray()
  const before = [await stored(), await rowsOfAlice(), keysBefore]
  for (const [name, one] of TRIES) {
    const unknown = await seen(one, bob, unknownIds[one.of])
    expect([name, await seen(one, bob, alice.own[one.of])]).toEqual([name, unknown])
  }
  expect([await stored(), await rowsOfAlice(), await keptKeys()]).toEqual(before)
})

/** It needs the open exception that applying its payment elsewhere closes. */
const FIRST = 'exceptions.attach invoiceId'
/** They end what others need. */
const LAST = /\.(remove|disable|revoke|withdraw\w*|deactivate|cancel|endSessions) /
/** A cursor is a place, of which every workspace has one; a nonce is refused with the same words whatever is wrong with it. */
const SAME_FOR_ALL = /cursor$|nonce$/

// Guarantee: the tries above are real ones. With its own id each of them is answered otherwise.
deepTest('each try reaches what it names when it is the caller’s', { timeout: 180_000 }, async () => {
  const checked = TRIES.filter(([name]) => !SAME_FOR_ALL.test(name))
  const rank = (name: string) => (name === FIRST ? 0 : LAST.test(name) ? 2 : 1)
  const inOrder = checked.toSorted(([one], [other]) => rank(one) - rank(other))
  for (const [name, one] of inOrder) {
    const unknown = await seen(one, alice, unknownIds[one.of])
    expect([name, await seen(one, alice, alice.own[one.of])]).not.toEqual([name, unknown])
  }
})
