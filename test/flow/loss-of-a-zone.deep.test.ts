import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { type ReplicaSet, startReplicaSet } from '#test/chaos/replica-set.ts'
import { type Rig, startRig } from '#test/chaos/rig.ts'
import { openWorld, type World } from '#test/support/world.ts'

const START_MS = 240_000
/** A key may create two invoices a second. */
const PACE_MS = 600
const AFTER = 20

let folder: string
let mongo: ReplicaSet
let rig: Rig
let world: World
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-zone-'))
  mongo = await startReplicaSet({ binary: await findMongod(() => undefined), dir: join(folder, 'mongo') })
  rig = await startRig({ dir: folder, mongoUrl: mongo.url, report: () => undefined })
  world = await openWorld(rig.dataDir, rig.stack.dev)
}, START_MS)
afterAll(async () => {
  await world?.close()
  await rig?.stop()
  await mongo?.stop()
  rmSync(folder, { recursive: true, force: true })
}, START_MS)

// Guarantee: three members in three zones; the zone of the primary is lost while invoices are made. What was acknowledged is there, and is announced.
test('the loss of a zone loses no acknowledged invoice', { timeout: 300_000 }, async () => {
  const { merchant } = world
  const acknowledged: { readonly id: string; readonly at: number; readonly tookMs: number }[] = []
  const create = async (): Promise<void> => {
    const begunAt = performance.now()
    const { id } = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
    acknowledged.push({ id, at: performance.now(), tookMs: performance.now() - begunAt })
  }
  for (let nth = 0; nth < 5; nth += 1) await create()
  const killedAt = performance.now()
  const elected = mongo.killPrimary()
  const isAfter = () => acknowledged.filter(({ at }) => at > killedAt).length >= AFTER
  while (!isAfter()) {
    await create()
    await wait(PACE_MS)
  }
  await elected
  for (const { id } of acknowledged) {
    expect((await world.getInvoice(id)).id).toBe(id)
    await world.waitForEvent(id, 'invoice.created')
  }
  const longest = Math.max(...acknowledged.map(({ tookMs }) => tookMs))
  const { LOSS_REPORT: report } = process.env
  if (report !== undefined)
    writeFileSync(report, JSON.stringify({ acknowledged: acknowledged.length, longestMs: Math.round(longest) }))
})
