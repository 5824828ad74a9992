import { expect, it } from 'vitest'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { standIn } from '#test/support/stand-in.ts'
import { type CommandDeps, type CommandInput, requestCommand } from './request-chain-command.ts'

const PLACE = { mode: 'live', network: 'ethereum', acceptReorg: false, dryRun: false, actor: 'cli:olivia' } as const

/** A scanner of one network and its requests, as a store keeps them. */
function scanner() {
  const cursor = { height: 100, status: 'live' } as { height: number; status: ChainCursor['status'] } & ChainCursor
  const stored = new Map<string, ChainCommand>()
  const deps: CommandDeps = {
    clock: { now: () => 1_000 },
    random: standIn({}),
    cursors: standIn({ find: async () => cursor }),
    payments: standIn({ countInBlocks: async () => ({ live: 0, confirmed: 0 }) }),
    commands: standIn({
      findById: async (id: string) => stored.get(id) ?? null,
      listOpen: async () => [...stored.values()].filter(({ status }) => status === 'open'),
      async request(wanted: ChainCommand) {
        stored.set(wanted.id, wanted)
        return wanted
      },
    }),
  }
  return {
    cursor,
    request: (input: Pick<CommandInput, 'kind' | 'from' | 'to'>) =>
      requestCommand(deps, { ...PLACE, ...input, opId: 'op' }),
    finish() {
      for (const [id, command] of stored) stored.set(id, { ...command, status: 'done' })
    },
  }
}

// Guarantee: an operation that is repeated after a lost answer gives the request that it made, also when it has been carried out by then.
it.each([
  ['a rewind', { kind: 'rewind', from: null, to: 90 }, { height: 80 }],
  ['a rescan of blocks above the scanner of now', { kind: 'rescan', from: 85, to: 95 }, { height: 80 }],
  ['a rescan of a network that is halted by now', { kind: 'rescan', from: 85, to: 95 }, { status: 'halted' }],
  ['a skip', { kind: 'skip', from: null, to: 120 }, { height: 120 }],
] as const)('%s', async (_what, input, later) => {
  const { cursor, request, finish } = scanner()
  const { command } = await request(input)
  finish()
  Object.assign(cursor, later)
  expect(await request(input)).toMatchObject({ command: { ...command, status: 'done' }, repeated: true })
})

it('a resume', async () => {
  const { cursor, request, finish } = scanner()
  cursor.status = 'halted'
  const { command } = await request({ kind: 'resume', from: null, to: null })
  finish()
  cursor.status = 'live'
  expect(await request({ kind: 'resume', from: null, to: null })).toMatchObject({ command: { id: command?.id } })
})

it('another operation is refused as ever', async () => {
  const { cursor, request } = scanner()
  cursor.height = 80
  await expect(request({ kind: 'rescan', from: 85, to: 95 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
})
