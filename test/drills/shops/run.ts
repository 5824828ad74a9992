// `npm run test:deep -- shops`: a real Vendure on PostgreSQL, with this commit's plug-in and a real Paymesh in test mode.
// Prints a line for each scene; the status is 0 only when every scene passed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { installShop } from './packages.ts'
import { startPostgres } from './postgres.ts'
import { startSandbox } from './sandbox.ts'
import { vendureScenes } from './vendure-scenes.ts'
import { startVendure } from './vendure-shop.ts'

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false }, only: { type: 'string', default: '' } } })
const startedAt = Date.now()
const say = (line: string): void =>
  void process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)

async function main(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-shops-'))
  const undo: (() => Promise<void> | void)[] = []
  try {
    say('starting PostgreSQL and Paymesh')
    const postgres = await startPostgres()
    undo.push(postgres.stop)
    const sandbox = await startSandbox(dir, say)
    undo.push(sandbox.stop)
    const checks: Check[] = []
    say('starting Vendure')
    const folder = await installShop('vendure', dir, say)
    undo.push(() => (values.keep ? say(`kept ${folder}`) : rmSync(folder, { recursive: true, force: true })))
    const workspace = await sandbox.openWorkspace('vendure')
    undo.push(workspace.relay.stop)
    const shop = await startVendure(folder, postgres, workspace)
    undo.push(shop.stop)
    say('Vendure answers')
    checks.push(...(await playScenes('Vendure', vendureScenes(shop, workspace))))
    const failed = checks.filter((check) => !isKept(check)).length
    process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
    return failed === 0 ? 0 : 1
  } finally {
    for (const step of undo.reverse()) await step()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

/** Plays scenes one after the other; each resolves with what is wrong. */
async function playScenes(
  shop: string,
  scenes: Readonly<Record<string, () => Promise<readonly string[]>>>,
): Promise<readonly Check[]> {
  const checks: Check[] = []
  for (const [name, play] of Object.entries(scenes)) {
    if (!name.includes(values.only)) continue
    const faults = await play().catch((error: unknown) => [
      error instanceof Error ? `${error.stack} ${error.cause ?? ''}` : String(error),
    ])
    const check = { promise: `${shop}: ${name}`, checked: 1, faults }
    process.stdout.write(`${describeCheck(check)}\n`)
    checks.push(check)
  }
  return checks
}

process.exitCode = await main()
