import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { previewRescan, type RescanEffect, type RescanPreview } from '#shared/usecases/scanning/preview-rescan.ts'
import type { CommandInput, CommandResult } from '#shared/usecases/scanning/request-chain-command.ts'
import type { Installation } from './session/installation.ts'
import { table } from './text/output.ts'

const TELL_EVERY_MS = 1_000

const WORDS: Readonly<Record<RescanEffect, string>> = {
  added: 'not stored, would be added',
  returned: 'gone, would be restored',
  moved: 'would move to this block',
  other_amount: 'mined with another amount, would be added',
  replaced: 'would be replaced: another transaction spends its coins',
  taken_back: 'would be reversed: its block is gone',
  contradicts: 'this block has a different amount than stored: the scanner would stop here',
}

/** Reads the blocks of a planned rescan or rewind with the network's node; null when there is no node, or no block to read. */
export async function readAhead(
  installation: Installation,
  input: CommandInput,
  { plan }: CommandResult,
): Promise<RescanPreview | null> {
  const { mode, network, kind, acceptReorg } = input
  const { from, to } = plan
  if (from === null || to === null) return null
  const client = createChainClient(installation.config.networks, mode, network, installation.metrics)
  if (client === null) return null
  let reportedAt = performance.now()
  const onProgress = (height: number): void => {
    if (performance.now() - reportedAt < TELL_EVERY_MS) return
    reportedAt = performance.now()
    process.stderr.write(`read up to block ${height} of ${to}\n`)
  }
  try {
    const range = { mode, network, from, to, confirmedToo: kind === 'rewind', acceptReorg, onProgress }
    return await previewRescan({ ...installation, client }, range)
  } finally {
    await client.close()
  }
}

/** The changes as readable text. */
export function previewText({ blocks, known, effects, changes }: RescanPreview): string {
  const rows = changes.map(({ effect, height, amount, invoiceId, txHash }) => [
    String(height ?? '-'),
    amount,
    invoiceId === null ? 'exceptions' : `invoice ${invoiceId}`,
    WORDS[effect],
    txHash ?? '-',
  ])
  const total = Object.values(effects).reduce((sum, count) => sum + count, 0)
  const lead = `${blocks} blocks read: ${known} payments unchanged, ${total} would change.`
  const more = total > changes.length ? `\n… and ${total - changes.length} more` : ''
  const head = ['BLOCK', 'AMOUNT', 'FOR', 'WHAT', 'TRANSACTION']
  return total === 0 ? lead : `${lead}\n${table(head, rows, '')}${more}`
}
