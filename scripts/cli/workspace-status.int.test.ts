import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { beforeAll, expect, test } from 'vitest'
import { WORKSPACE_STATUSES, type WorkspaceStatus, worksIn } from '#shared/domain/workspace-status.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { openEngine } from '#test/support/engine.ts'
import { accountAddresses } from '#test/support/fresh-key.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'
import { createProgram } from './main.ts'

const stores = useStores()
let workspaceId: string
let endpointId: string
let become: (status: WorkspaceStatus) => Promise<unknown>
beforeAll(async () => {
  const { deps } = await openEngine(stores)
  workspaceId = (await createWorkspace(deps, { name: 'Shop', ownerEmail: 'o@example.com', actor: 'test' })).id
  endpointId = (await deliveryStage(stores).endpoint({ workspaceId, mode: 'test' })).id
  become = (status) => deps.workspaces.update(workspaceId, { status })
})

const of = () => ['--workspace', workspaceId]
/** Commands that do not work for every status: the last one in which they do, as for people (decision 0099), and their arguments. */
const NARROWED: Readonly<Record<string, readonly [worksWhile: WorkspaceStatus, args: () => readonly string[]]>> = {
  'go-live pay': ['active', () => [...of(), '--asset', 'usdt_ethereum', '--amount', '5.00']],
  'api-key create': ['restricted', () => [...of(), '--mode', 'test']],
  'wallet add': [
    'restricted',
    () => [
      ...of(),
      ...['--mode', 'test', '--family', 'evm', '--kind', 'address'],
      '--value',
      accountAddresses(9, 1)[0] ?? '',
    ],
  ],
  'wallet prove': ['restricted', () => [...of(), '--wallet', randomUUID()]],
  'endpoint test': ['restricted', () => [endpointId]],
  'go-live check': ['restricted', of],
  'go-live confirm-address': [
    'restricted',
    () => [randomUUID(), '0x52908400098527886E0F7030069857D2E4169EE7', ...of()],
  ],
  'go-live state-master-key': ['restricted', of],
  'go-live send-mail': ['restricted', of],
}
/** Commands that ask the server with an API key, which has no access while its workspace is suspended (`listen.int.test.ts`). */
const WITH_A_KEY = ['listen', 'trigger']
/** Commands that read, decide about money that is under way, end something, or concern the installation or its operators. */
const ALWAYS = [
  ...['workspace create', 'workspace update', 'workspace list', 'api-key revoke', 'api-key list', 'master-key rotate'],
  ...['operator create', 'operator list', 'operator remove', 'operator reset-password', 'operator reset-totp'],
  ...['wallet funds', 'wallet list', 'wallet show', 'wallet disable', 'invoice show', 'invoice explain', 'tx explain'],
  ...['payment count', 'payment attach', 'exception list', 'exception close', 'endpoint list', 'endpoint show'],
  ...['endpoint rotate-secret', 'endpoint disable', 'endpoint enable', 'delivery list', 'delivery show'],
  ...['delivery resend', 'delivery recover', 'chain status', 'chain rescan', 'chain rewind', 'chain resume'],
  ...['chain cancel', 'chain release-deadlines', 'migrate', 'serve', 'backup create', 'backup run', 'backup verify'],
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
