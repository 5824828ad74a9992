import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { type Language, SHOPS } from '../shops/languages.ts'
import { commandOf, fill, type Json, type Names, networkOf, SCENES, type Scene } from './conformance-scenes.ts'
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts'

const stores = useStores()
let api: TestApi
let network: LossyProxy
let stillAt: number | null = null

beforeAll(async () => {
  api = await openApi(stores, {
    deps: ({ clock }) => ({ clock: { ...clock, now: () => stillAt ?? clock.now() } }),
  })
  await api.engine.watchEverything()
  network = await startLossyProxy(api.baseUrl)
})
afterEach(() => {
  stillAt = null
})
afterAll(async () => {
  await network.close()
  await api.close()
})

/** The runner of a language: takes commands, one after the other. */
interface Runner {
  play(command: Json): Promise<Json>
  stop(): Promise<void>
}

async function startRunner({ commandOf: commandFor }: Language): Promise<Runner> {
  const folder = await mkdtemp(join(tmpdir(), 'paymesh-conformance-'))
  const [command = '', ...args] = await commandFor('conformance', folder)
  // It ends with its standard input, hence with this process.
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  let log = ''
  stderr.on('data', (text) => {
    log += text
  })
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  return {
    play: async (one) => {
      stdin.write(`${JSON.stringify(one)}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the runner has ended: ${log}`)
      return JSON.parse(value)
    },
    stop: async () => {
      const ended = once(child, 'exit')
      stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000)

async function playScene(runner: Runner, scene: Scene, order: string): Promise<void> {
  const { apiKey } = await api.newKey('test')
  const names: Record<string, Json> = { order }
  if (scene.still === true) stillAt = Date.now()
  network.plan(...networkOf(scene, names))
  const open = { call: 'open', api: network.baseUrl, api_key: apiKey }
  await runner.play(open)
  for (const call of scene.calls)
    for (let time = 0; time < (call.times ?? 1); time += 1) {
      const from = network.requests()
      const minute = minuteNow()
      const command = commandOf(call, names)
      const result = await runner.play(call.call === 'open' ? { ...open, ...command } : command)
      const keys = network.keys.slice(from)
      check(call, result, keys, names)
      if (call.last_key !== undefined) {
        const minutes = [minute, minuteNow()].map((each) => fill(call.last_key, { ...names, at: { minute: each } }))
        expect(minutes).toContain(keys.findLast((key) => key !== null))
      }
      if (call.as !== undefined) names[call.as] = result.ok
    }
}

function check(call: Scene['calls'][number], result: Json, keys: readonly (string | null)[], names: Names): void {
  const { expect: expected = { ok: null }, requests, waits } = fill(call, names)
  if (expected.distinct === undefined) expect(result).toMatchObject(expected)
  else {
    const ids = result.ok.map(({ id }: Json) => id)
    expect([ids.length, new Set(ids).size]).toEqual([expected.distinct, expected.distinct])
    if (expected.alike !== undefined) expect(new Set(result.ok.map((one: Json) => one[expected.alike])).size).toBe(1)
  }
  if (requests !== undefined) expect(keys).toHaveLength(requests)
  if (call.keys !== undefined) expect(new Set(keys).size).toBe(call.keys)
  if (waits === undefined) return
  expect(result.waits).toHaveLength(waits.length)
  for (const [index, [least, most]] of waits.entries()) {
    expect(result.waits[index]).toBeGreaterThanOrEqual(least)
    expect(result.waits[index]).toBeLessThanOrEqual(most)
  }
}

// Guarantee: a client in any language makes one invoice for one call whatever the network does, gives up with a typed error that says
// what is known, and believes no forged, old or changed delivery.
describe.each(SHOPS)('the client in $name', (language) => {
  let runner: Runner
  beforeAll(async () => {
    runner = await startRunner(language)
  })
  afterAll(() => runner.stop())

  it.each(SCENES.map((scene, index) => ({ ...scene, index })))('$name', async (scene) => {
    await playScene(runner, scene, `${language.name}-${scene.index}`)
  })
})
