import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '#scripts/bundle.mjs'
import { failed } from './install.ts'
import type { Installation } from './installation.ts'
import { blockOf } from './readme.ts'
import { check, type Story } from './story.ts'
import { startTraffic } from './updates.ts'

/** Services that the balancer leads to; the other ones take no request from outside. */
export const EDGES = ['api', 'checkout', 'admin'] as const
/** Services that look for their work themselves. */
export const WORKERS = ['mailer', 'webhooks', 'maintenance', 'invoices', 'rates', 'scanner'] as const
const PHASE_MS = 10_000
/** "5 s later", says the page. */
const DRAIN_MS = 5_000

/** "One process after the other": the update and back under load, without a failed request; then the update again. */
export async function replaceOneByOne(story: Story, installation: Installation): Promise<void> {
  const { during, finish } = await startTraffic(story, installation)
  const slots = new Map<string, number>()
  const scaled = { line: 'docker compose up -d --scale api=2', comment: '' }
  const terminal = installation.terminal()
  await terminal.type({ line: 'cd deploy/compose', comment: '' })
  const { status, stderr } = await terminal.type(scaled)
  if (status !== 0) throw new Error(stderr)
  await delay(PHASE_MS)
  for (const [to, isBack] of [
    [story.commit, false],
    [story.earlier, true],
  ] as const) {
    const promise = isBack ? 'going back' : 'the update'
    during(promise)
    await check(story, `${promise}: processes are replaced one after the other, and each ends in order`, async () => {
      const faults = [...(await prepare(story, installation, to, isBack))]
      for (const name of [...WORKERS, ...EDGES]) {
        const old = slots.get(name) ?? 0
        if (name !== 'api') slots.set(name, 1 - old)
        if (!(await replace(installation, name, name === 'api' ? [0, 1] : [old])))
          faults.push(`${name} did not end in order`)
        story.say(`${name} was replaced`)
      }
      return { checked: WORKERS.length + EDGES.length, faults }
    })
    await delay(PHASE_MS)
  }
  await finish('no request fails while processes are replaced one after the other', null)
  await check(story, 'the update without load, with every command of the page, brings it up', async () => {
    const faults = [...(await prepare(story, installation, story.commit, false))]
    const up = await terminal.type({ line: 'docker compose up -d --remove-orphans', comment: '' })
    await installation.untilReady()
    return { checked: 1, faults: [...faults, ...(up.status === 0 ? [] : [up.stderr])] }
  })
}

/** The page's commands but the last, which would replace all containers at once. */
async function prepare(
  story: Story,
  installation: Installation,
  to: string,
  isBack: boolean,
): Promise<readonly string[]> {
  const terminal = installation.terminal()
  const faults: string[] = []
  for (const command of blockOf(ROOT, 'docker compose run --rm migrate')) {
    const { line } = command
    if ((isBack && line.includes('migrate')) || line.includes('up -d')) continue
    story.say(line)
    faults.push(...failed(command, await terminal.type(command, line.includes('v1.1.0') ? { 'v1.1.0': to } : {})))
  }
  return faults
}

/** Replaces each process of a service; of a service with one, the new one starts first. */
async function replace(
  { compose, network, untilReady }: Installation,
  name: string,
  slots: readonly number[],
): Promise<boolean> {
  const isEdge = EDGES.some((edge) => edge === name)
  const begin = async (slot: number): Promise<void> => {
    await compose.startBeside(name, slot)
    await untilReady(name, slot)
    if (isEdge) await network.drain(name, slot, false)
  }
  const end = async (slot: number): Promise<boolean> => {
    if (isEdge) {
      await network.drain(name, slot, true)
      await delay(DRAIN_MS)
    }
    return await compose.endOne(name, slot)
  }
  const ends: boolean[] = []
  for (const slot of slots) {
    if (slots.length === 1) await begin(1 - slot)
    ends.push(await end(slot))
    if (slots.length > 1) await begin(slot)
  }
  return ends.every(Boolean)
}
