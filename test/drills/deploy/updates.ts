import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../../chaos/random.ts'
import { untilQuiet } from '../../../chaos/until-quiet.ts'
import { checkRecords, compareEvidence } from '../upgrade/compare.ts'
import { startLoad } from '../upgrade/load.ts'
import { createMerchants } from '../upgrade/merchants.ts'
import { createPayer } from '../upgrade/payers.ts'
import { createRequests } from '../upgrade/requests.ts'
import { failed } from './install.ts'
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

/** "Updating, and going back": back to the release before and forward again, under load. */
export async function goBackAndForth(story: Story, installation: Installation): Promise<void> {
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
  const running = startLoad({
    ...{ merchants, requests, random, perSecond: PER_SECOND },
    pay: createPayer(story.around.nodes.ethereum?.rpcUrls[0] ?? ''),
    checkoutUrl: network.plainUrl('checkout'),
    adminUrl: network.plainUrl('admin'),
  })
  const during = (next: string): void => {
    phase = next
  }
  const commands = blockOf(installation.checkout, 'docker compose run --rm migrate')
  await delay(PHASE_MS)
  await move(story, installation, { commands, to: story.earlier, isBack: true, during })
  await delay(PHASE_MS)
  await move(story, installation, { commands, to: story.commit, isBack: false, during })
  await delay(PHASE_MS)
  story.say('the load ends')
  await running.finish()
  for (const { receivers } of merchants) receivers.calm()
  await check(story, 'requests fail only while Compose replaces the containers', async () => ({
    checked: [...requests.counts.values()].reduce((sum, count) => sum + count, 0),
    faults: requests.failures.filter((line) => !line.includes(` ${RESTART}: `)),
  }))
  const db = await installation.database()
  await untilQuiet(db, QUIET_MS, story.say)
  for (const found of [...(await compareEvidence(db, merchants)), ...(await checkRecords(cli))]) story.enter(found)
}

interface Move {
  readonly commands: ReturnType<typeof blockOf>
  /** Commit in the place of the page's tag. */
  readonly to: string
  readonly isBack: boolean
  readonly during: (phase: string) => void
}

async function move(story: Story, installation: Installation, { commands, to, isBack, during }: Move): Promise<void> {
  const promise = isBack ? 'the release before starts on the data of this one' : 'this release is updated to again'
  await check(story, `${promise}, with the commands of the page`, async () => {
    const terminal = installation.terminal()
    const faults: string[] = []
    for (const command of commands) {
      const { line } = command
      // "on the way back: leave it out"
      if (isBack && line.includes('migrate')) continue
      story.say(line)
      const isUp = line.includes('up -d')
      if (isUp) during(RESTART)
      faults.push(...failed(command, await terminal.type(command, line.includes('v0.2.0') ? { 'v0.2.0': to } : {})))
      if (!isUp) continue
      await installation.untilReady()
      await delay(LATE_MS)
      during(isBack ? 'back' : 'forth')
    }
    return { checked: commands.length, faults }
  })
}
