import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'
import { ASSETS } from '#shared/chains/assets.ts'
import { type Child, freePort, pause, startChild } from './child.ts'
import { PONDER_APP, PONDER_FINALITY, PONDER_PACKAGES } from './ponder-app.ts'
import { BLOCKS, CHAIN_ID, HIT_EVERY, type Stage, TOKEN, TRANSFERS } from './scan-stage.ts'

const LAST_BLOCK = BLOCKS - PONDER_FINALITY
const EVENTS = (TRANSFERS / BLOCKS) * LAST_BLOCK
const START_MS = 300_000
const STALL_MS = 120_000

/** How fast a scan was and how much memory its process had at most; null where the system does not tell. */
export interface Caught {
  readonly perSecond: number
  readonly peakBytes: number | null
}

/** Puts Ponder and its app into a folder of their own; says how it then indexes the chain of a stage from nothing. */
export function preparePonder(stage: Stage, print: (line: string) => void): () => Promise<Caught> {
  const folder = join(ROOT, '.cache', PONDER_PACKAGES[0].replace('@', '-'))
  for (const [path, text] of Object.entries(PONDER_APP)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text.trimStart())
  }
  install(folder, print)
  const keys = join(folder, 'watched')
  writeFileSync(keys, stage.watches.keys.join('\n'))
  return async () => {
    rmSync(join(folder, '.ponder'), { recursive: true, force: true })
    const port = await freePort()
    const bin = join(folder, 'node_modules/ponder/dist/esm/bin/ponder.js')
    const args = [bin, 'start', '--root', folder, '--schema', 'bench', '--port', String(port), '--log-level', 'error']
    const env = {
      PONDER_TELEMETRY_DISABLED: '1',
      BENCH_CHAIN_ID: String(CHAIN_ID),
      BENCH_RPC_URL: stage.chain.url,
      BENCH_TOKEN: ASSETS[TOKEN].contract ?? '',
      BENCH_END_BLOCK: String(LAST_BLOCK),
      BENCH_KEYS: keys,
    }
    const origin = `http://127.0.0.1:${port}`
    const child = await startChild(args, env, () => answers(`${origin}/health`), START_MS)
    try {
      return await follow(child, origin)
    } finally {
      await child.stop()
    }
  }
}

function install(folder: string, print: (line: string) => void): void {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return
  print(`installing ${PONDER_PACKAGES.join(' ')} into ${folder}`)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--loglevel=error']
  execFileSync('npm', ['install', ...flags, '--prefix', folder, ...PONDER_PACKAGES], { stdio: 'ignore' })
}

/** As the product is measured: from its first progress until everything is there, counting what came in between. */
async function follow(child: Child, origin: string): Promise<Caught> {
  let first: { readonly at: number; readonly events: number } | null = null
  let seen = 0
  let seenAt = performance.now()
  while (seen < EVENTS) {
    await pause(100)
    const events = await indexed(origin)
    const at = performance.now()
    if (events > seen) seenAt = at
    if (at - seenAt > STALL_MS) throw new Error(`ponder stands still at ${seen} of ${EVENTS} transfers`)
    if (events > 0) first ??= { at, events }
    seen = events
  }
  // Events are counted before their rows are written.
  while (!(await answers(`${origin}/ready`))) await pause(20)
  const seconds = (performance.now() - (first?.at ?? 0)) / 1_000
  const { stored } = (await (await fetch(`${origin}/count`)).json()) as { readonly stored: number }
  if (stored !== EVENTS / HIT_EVERY)
    throw new Error(`ponder stored ${stored} payments instead of ${EVENTS / HIT_EVERY}`)
  return { perSecond: (EVENTS - (first?.events ?? 0)) / seconds, peakBytes: child.peakBytes() }
}

/** Transfers that the app's handler was called with. */
async function indexed(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  const [, count = '0'] = /^ponder_indexing_completed_events\{event="Token:Transfer"\} (\d+)$/m.exec(text) ?? []
  return Number(count)
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
