import type { Command } from 'commander'
import { beforeAll, expect, test } from 'vitest'
import { WORKSPACE_STATUSES, type WorkspaceStatus, worksIn } from '#shared/domain/enumerations.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { openEngine } from '#test/support/engine.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'
import { createProgram } from './main.ts'
import { OPERATIONS } from './operations/table.ts'

const stores = useStores()
let workspaceId: string
let become: (status: WorkspaceStatus) => Promise<unknown>
beforeAll(async () => {
  const { deps } = await openEngine(stores)
  workspaceId = (await createWorkspace(deps, { name: 'Shop', ownerEmail: 'o@example.com', actor: 'test' })).id
  become = (status) => deps.workspaces.update(workspaceId, { status })
})

const of = () => ['--workspace', workspaceId]
/** Commands that do not work for every status: the last one in which they do, as for people (decision 0099), and their arguments. */
const NARROWED: Readonly<Record<string, readonly [worksWhile: WorkspaceStatus, args: () => readonly string[]]>> = {
  'go-live pay': ['active', () => [...of(), '--asset', 'usdt_ethereum', '--amount', '5.00']],
  'api-key create': ['restricted', () => [...of(), '--mode', 'test']],
}
/** Commands that ask the server with an API key, which has no access while its workspace is suspended (`listen.int.test.ts`). */
const WITH_A_KEY = ['listen', 'trigger']
/**
 * Commands that read, end something, or concern the installation or its operators, and the procedures of the dashboard, whose actor is exempt
 * from the status (`audit-rows.int.test.ts` runs each in a suspended workspace).
 */
const ALWAYS = [
  ...['workspace create', 'workspace update', 'workspace list', 'master-key rotate'],
  ...['operator create', 'operator list', 'operator remove', 'operator reset-password', 'operator reset-totp'],
  ...['wallet funds', ...Object.keys(OPERATIONS).filter((name) => NARROWED[name] === undefined)],
  ...['migrate', 'serve', 'backup create', 'backup run', 'backup verify'],
  ...['backup restore', 'backup confirm-restore', 'doctor', 'audit verify', 'audit acknowledge-break'],
  ...['reconcile', 'pay'],
]

function leavesOf(command: Command, path: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [path.join(' ')]
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]))
}

test('every command says whether it works for a workspace that is restricted or suspended', () => {
  expect([...leavesOf(createProgram())].sort()).toEqual([...Object.keys(NARROWED), ...WITH_A_KEY, ...ALWAYS].sort())
})

// Guarantee: the command line starts nothing for a workspace that its people may not start either.
test.each(Object.entries(NARROWED))('%s works up to its status', async (name, [worksWhile, args]) => {
  for (const status of WORKSPACE_STATUSES) {
    await become(status)
    const { status: exit, stdout, stderr } = await runOnStores(stores, ...name.split(' '), ...args(), '--json')
    const isRefused = /WORKSPACE_|The workspace is (suspended|restricted)/.test(stdout + stderr)
    expect([status, isRefused, isRefused && exit === 0]).toEqual([status, !worksIn(status, worksWhile), false])
  }
})
