import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorText } from '#shared/contracts/error-text.ts'
import { startStack } from '../start/stack.ts'
import { tellStory } from './story.ts'
import { createTimeline } from './timeline.ts'

const USAGE = `npm run demo [-- --exit] [-- --no-install]

Starts Paymesh on a throw-away folder with a local Ethereum, takes a real payment from invoice to signed
webhook, and prints what happened. Then it stays up for you to try, until Ctrl-C.

  --exit   end after the story; status 0 when every event arrived, in a legal order, with a valid
           signature and the right amounts, else 1
  --no-install
           print what is missing instead of installing it with apt-get, which otherwise happens as root
  --help   this text
`

/** Resolves when a signal asks the demo to end. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

/** Runs the demo; returns the exit status. Leaves no process and no file behind. */
export async function runDemo(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => !['--exit', '--help', '-h'].includes(arg))
  if (unknown !== undefined || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(unknown === undefined ? USAGE : `unknown option ${unknown}\n\n${USAGE}`)
    return unknown === undefined ? 0 : 2
  }
  const ended = endSignal()
  const timeline = createTimeline(process.stdout)
  const dataDir = await mkdtemp(join(tmpdir(), 'paymesh-demo-'))
  process.stdout.write('\n  Paymesh demo: one invoice, one real transfer, every webhook verified\n\n')
  timeline.line('system', 'starting stores, services and a local Ethereum …')
  let stack: Awaited<ReturnType<typeof startStack>> | null = null
  try {
    stack = await startStack({ dataDir, processes: false, report: (line: string) => timeline.note(line) })
    const dev = stack.dev
    timeline.line('system', `up: API ${dev.apiUrl}`)
    const faults = await Promise.race([tellStory(dev, timeline), ended.then(() => ['interrupted'] as const)])
    for (const fault of faults) timeline.line('fault', fault)
    if (faults.length === 0) timeline.line('verdict', 'every event arrived, in order, signed, with the right amounts')
    if (!args.includes('--exit') && faults.length === 0) {
      process.stdout.write(`\n  Still up. API ${dev.apiUrl}  key ${dev.testKey}  (Ctrl-C ends it)\n\n`)
      await ended
    }
    return faults.length === 0 ? 0 : 1
  } catch (error) {
    timeline.line('fault', errorText(error))
    return 1
  } finally {
    await stack?.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
