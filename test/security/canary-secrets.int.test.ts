import { afterAll, beforeAll, expect, it } from 'vitest'
import { toOneServer } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { useArchives, useCli, useSettings, useWorkers } from './canary-machine.ts'
import { type CanaryRig, ERRORS_MIN, letters, openCanaries, PLANTED_MIN } from './canary-rig.ts'
import { useAdmin, useApi } from './canary-services.ts'

const stores = useStores()
let rig: CanaryRig
beforeAll(async () => {
  rig = await openCanaries(stores)
})
afterAll(() => rig.close())

async function storedText(): Promise<readonly (readonly [string, string])[]> {
  const texts: (readonly [string, string])[] = []
  for (const { name } of await stores.db.connection.listCollections())
    for (const row of await stores.db.connection.collection(name).find().toArray()) {
      const { body, ...rest } = row
      const bytes = body as { buffer?: Uint8Array } | undefined
      texts.push([`collection ${name}`, `${JSON.stringify(rest)} ${Buffer.from(bytes?.buffer ?? []).toString('utf8')}`])
    }
  const { producer, prefix } = stores.redis
  for await (const keys of toOneServer(producer).scanStream({ match: `${prefix}*`, count: 1_000 }))
    for (const key of keys as string[]) {
      const dump = await producer.callBuffer('DUMP', key)
      texts.push(['redis', `${key} ${(dump as Buffer | null)?.toString('latin1') ?? ''}`])
    }
  return texts
}

// Guards secrets: whatever is sent to us or kept by us, right or wrong, comes out nowhere but where it is shown once on purpose.
it('says none of all planted secrets anywhere', { timeout: 540_000 }, async () => {
  const { finder, said, metrics } = rig
  for (const use of [useApi, useAdmin, useWorkers, useSettings, useArchives, useCli]) await use(rig)
  await rig.tracer.stop()
  expect(finder.count).toBeGreaterThanOrEqual(PLANTED_MIN)
  expect(said.log.length).toBeGreaterThan(100)
  expect(said.traces.length).toBeGreaterThan(0)
  expect(said.errors.length).toBeGreaterThan(ERRORS_MIN)
  const found = [
    ...Object.entries(said).flatMap(([place, texts]) => texts.flatMap((text) => finder.search(place, text))),
    ...finder.search('metrics', await metrics.render()),
    ...(await storedText()).flatMap(([place, text]) => finder.search(place, text)),
  ]
  expect([...new Set(found)].map((one) => one.slice(0, 160))).toEqual([])
})

it('would notice one in each of these places', async () => {
  const { finder, said, watched } = rig
  const secret = rig.plant('decoy', letters())
  const { logger } = watched.runtime
  const before = said.log.length
  logger.error({ err: new Error(`refused ${secret}`) }, 'failed')
  logger.info({ apiKey: secret }, 'redacted')
  const lines = said.log.slice(before)
  expect(lines.map((line) => finder.search('log', line).length > 0)).toEqual([true, false])
  for (const form of [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
    secret.slice(8, 40),
  ])
    expect(finder.search('answers', `{"message":"no ${form}"}`).length).toBeGreaterThan(0)
  await stores.db.connection
    .collection('mails')
    .insertOne({ _id: 'decoy' as never, data: { secret } }, { bypassDocumentValidation: true })
  expect((await storedText()).flatMap(([place, text]) => finder.search(place, text)).length).toBeGreaterThan(0)
})
