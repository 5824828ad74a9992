// `npm run test:deep -- shops`: a real Vendure and a real Medusa on PostgreSQL, with this commit's plug-ins and a real Paymesh in test mode.
// Prints a line for each scene; the status is 0 only when every scene passed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { medusaScenes } from './medusa-scenes.ts'
import { startMedusa } from './medusa-shop.ts'
import { checkTypes, installShop } from './packages.ts'
import { type Postgres, startPostgres } from './postgres.ts'
import { startSandbox, type Workspace } from './sandbox.ts'
import { vendureScenes } from './vendure-scenes.ts'
import { startVendure } from './vendure-shop.ts'

type Scenes = Readonly<Record<string, () => Promise<readonly string[]>>>
type Play = (
  folder: string,
  postgres: Postgres,
  workspace: Workspace,
) => Promise<{ readonly stop: () => Promise<void>; readonly groups: readonly Scenes[] }>

/** Starts each shop, and has its scenes in groups that are played one after the other. */
const SHOPS: Readonly<Record<string, Play>> = {
  vendure: async (folder, postgres, workspace) => {
    const shop = await startVendure(folder, postgres, workspace)
    const groups = Object.entries(vendureScenes(shop, workspace)).map(([name, play]) => ({ [name]: play }))
    return { stop: shop.stop, groups }
  },
  medusa: async (folder, postgres, workspace) => {
    const shop = await startMedusa(folder, postgres, workspace)
    return { stop: shop.stop, groups: medusaScenes(shop, workspace) }
  },
}

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    shop: { type: 'string', default: '' },
  },
})
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
    for (const [name, play] of Object.entries(SHOPS)) {
      if (values.shop !== '' && values.shop !== name) continue
      say(`starting ${name}`)
      const folder = await installShop(name, dir, say)
      undo.push(() => (values.keep ? say(`kept ${folder}`) : rmSync(folder, { recursive: true, force: true })))
      checks.push(
        ...(await playScenes(name, { 'its plug-in has the types of its shop': () => checkTypes(name, folder) })),
      )
      const workspace = await sandbox.openWorkspace(name)
      undo.push(workspace.relay.stop)
      const { stop, groups } = await play(folder, postgres, workspace)
      undo.push(stop)
      say(`${name} answers`)
      for (const scenes of groups) checks.push(...(await playScenes(name, scenes)))
    }
    const failed = checks.filter((check) => !isKept(check)).length
    process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
    return failed === 0 ? 0 : 1
  } finally {
    for (const step of undo.reverse()) await step()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

/** Plays scenes at once; each resolves with what is wrong. */
async function playScenes(shop: string, scenes: Scenes): Promise<readonly Check[]> {
  const chosen = Object.entries(scenes).filter(([name]) => name.includes(values.only))
  return await Promise.all(
    chosen.map(async ([name, play]) => {
      const faults = await play().catch((error: unknown) => [
        error instanceof Error ? `${error.stack} ${error.cause ?? ''}` : String(error),
      ])
      const check = { promise: `${shop}: ${name}`, checked: 1, faults }
      say(describeCheck(check))
      return check
    }),
  )
}

process.exitCode = await main()
