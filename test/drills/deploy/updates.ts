import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '#scripts/bundle.mjs'
import { seededRandom } from '#test/chaos/random.ts'
import { untilQuiet } from '#test/chaos/until-quiet.ts'
import { checkRecords, compareEvidence } from '../compare.ts'
import { startLoad } from '../load.ts'
import { createMerchants } from '../merchants.ts'
import { createPayer } from '../payers.ts'
import { createRequests } from '../requests.ts'
import { untilPriced } from '../until-priced.ts'
import { failed, startByPage } from './install.ts'
import type { Installation } from './installation.ts'
import { blockOf } from './readme.ts'
import { check, type Story } from './story.ts'

const PHASE_MS = 15_000
const QUIET_MS = 240_000
const PER_SECOND = 1
/** What the page says of requests while containers are replaced. */
const RESTART = 'restart'
/** A request that waited for the old process fails this much later at most. */
const LATE_MS = 5_000

/** What follows from a request that nobody answered and nobody repeats: an order without an
 * invoice, an invoice without an asset, one that was not cancelled. */
const UNANSWERED: readonly RegExp[] = [
  / never got an answer$/,
  /\(cancel\) is pending instead of cancelled$/,
  /^invoice \S+ \(new\) announced invoice\.(?:pending|new) 0 times$/,
]

/** Merchants, payers and operators at work, while processes are replaced. */
export interface Traffic {
  during(phase: string): void
  /** Ends the load and enters what came of it. `mayFail` = the phase in which requests may fail; null = none. */
  finish(promise: string, mayFail: string | null): Promise<void>
}

/** Starts a load on an installation. */
export async function startTraffic(story: Story, installation: Installation): Promise<Traffic> {
  const { cli, network } = installation
  let phase = 'before'
  const requests = createRequests(() => phase)
  const random = seededRandom(`deploy ${story.form}`)
  const merchants = await createMerchants(cli, {
    ...{ count: 1, apiUrl: network.plainUrl('api'), dir: join(story.dir, installation.name), random },
  })
  story.undo.push(async () => {
    for (const { receivers, ledger } of merchants) {
      await receivers.close()
      ledger.close()
    }
  })
  for (const { client } of merchants) await untilPriced(client)
  const running = startLoad({
    ...{ merchants, requests, random, perSecond: PER_SECOND },
    pay: createPayer(story.around.nodes.ethereum?.rpcUrls[0] ?? ''),
    checkoutUrl: network.plainUrl('checkout'),
    adminUrl: network.plainUrl('admin'),
  })
  return {
    during: (next) => {
      phase = next
    },
    finish: async (promise, mayFail) => {
      story.say('the load ends')
      await running.finish()
      for (const { receivers } of merchants) receivers.calm()
      await check(story, promise, async () => ({
        checked: [...requests.counts.values()].reduce((sum, count) => sum + count, 0),
        faults: requests.failures.filter((line) => mayFail === null || !line.includes(` ${mayFail}: `)),
      }))
      const db = await installation.database()
      await untilQuiet({ db, ledger: merchants.flatMap(({ ledger }) => ledger.lines) }, QUIET_MS, story.say)
      const evidence = await compareEvidence(db, merchants)
      const allowed = (fault: string): boolean => mayFail !== null && UNANSWERED.some((pattern) => pattern.test(fault))
      for (const { faults, ...found } of evidence) {
        story.enter({ ...found, faults: faults.filter((fault) => !allowed(fault)) })
      }
      for (const found of await checkRecords(cli)) story.enter(found)
    },
  }
}

/** "Updating, and going back" with Compose, under load: from the release before to this one, back, and forward again. */
export async function updateAndGoBack(story: Story): Promise<void> {
  const installation = await story.open({ name: 'updated', commit: story.earlier })
  await startByPage(story, installation)
  const { during, finish } = await startTraffic(story, installation)
  const commands = blockOf(ROOT, 'docker compose run --rm migrate')
  for (const [to, isBack] of [
    [story.commit, false],
    [story.earlier, true],
    [story.commit, false],
  ] as const) {
    await delay(PHASE_MS)
    await move(story, installation, { commands, to, isBack, during })
  }
  await delay(PHASE_MS)
  await finish('requests fail only while Compose replaces the containers', RESTART)
}

interface Move {
  readonly commands: ReturnType<typeof blockOf>
  /** Commit in the place of the page's tag. */
  readonly to: string
  readonly isBack: boolean
  readonly during: (phase: string) => void
}

async function move(story: Story, installation: Installation, { commands, to, isBack, during }: Move): Promise<void> {
  const promise = isBack ? 'going back to the release before' : 'the update to this release'
  await check(story, `${promise}, with the commands of the page, brings it up`, async () => {
    const terminal = installation.terminal()
    const faults: string[] = []
    for (const command of commands) {
      const { line } = command
      // "on the way back: leave it out"
      if (isBack && line.includes('migrate')) continue
      story.say(line)
      const isUp = line.includes('up -d')
      if (isUp) during(RESTART)
      faults.push(...failed(command, await terminal.type(command, line.includes('v1.1.0') ? { 'v1.1.0': to } : {})))
      if (!isUp) continue
      await installation.untilReady()
      await delay(LATE_MS)
      during(isBack ? 'back' : 'forth')
    }
    return { checked: commands.length, faults }
  })
}
