import type { ChainCommandKind } from '#shared/contracts/chain-commands.ts'
import {
  cancelPlanText,
  cancelText,
  planText,
  releasePlanText,
  releaseText,
  requestText,
} from '../text/chain-request-text.ts'
import { chainStatusText } from '../text/chain-status-text.ts'
import { parseMoment } from '../text/parse-time.ts'
import { type Flag, type Flags, parseCount } from './input-flags.ts'
import type { Operation } from './operation.ts'

const MODE: Flag = { help: 'default: the mode in which the network has a node', otherwise: undefined }
const NEEDED: Flag = { isRequired: true }

/** A command that stores a request of this kind for the scanner. */
const request = (kind: ChainCommandKind, help: string, flags: Flags): Operation => ({
  ...{ procedure: 'chains.request', dryRun: 'chains.plan', operands: ['network'], fixed: { kind }, waits: true, help },
  ...{ text: requestText, dryText: planText },
  isFailure: ({ command }: { readonly command?: { readonly status: string } | null }) => command?.status === 'refused',
  flags: { mode: MODE, kind: null, from: null, to: null, acceptReorg: null, ...flags },
})

/** `chain …`: the state of scanners, and requests to them. */
export const CHAINS: Readonly<Record<string, Operation>> = {
  'chain status': {
    ...{ procedure: 'chains.list', also: 'chains.costs', text: chainStatusText },
    help: 'Show every network: block, head, lag, finality, age of its mempool view, lease owner, why it is waiting, stuck or halted, its pace beside what this version states, and what its nodes cost.',
  },
  'chain rescan': request(
    'rescan',
    'Rescan blocks: finds missed payments, sends no webhook twice and reverses nothing. Safe to repeat.',
    {
      from: { ...NEEDED, help: 'first block', read: parseCount },
      to: { help: 'last block; default: the block of the scanner' },
    },
  ),
  'chain rewind': request(
    'rewind',
    'Move the scanner back. Payments are reversed only if their block is gone and the scan does not find them.',
    {
      to: { ...NEEDED, help: 'last block that stays scanned' },
      acceptReorg: { help: 'for a halted scanner: accept the node’s chain although it differs' },
    },
  ),
  'chain resume': request('resume', 'Resume a halted scanner from the newest block that the node still has.', {
    acceptReorg: { help: 'also below finality, once you have decided that the node’s chain is the right one' },
  }),
  'chain skip': request(
    'skip',
    'Skip the blocks after the scanner’s that no node has any more, because all of them are pruned or keep a limited ledger, up to the first that can be read. Stores what they paid that is still unspent (Bitcoin, Litecoin), opens an inbox row, and holds deadlines back until release-deadlines. Refused while the next block can be read.',
    {
      to: { help: 'last block that may be skipped; default: up to the first that can be read' },
      reason: NEEDED,
    },
  ),
  'chain cancel': {
    ...{ procedure: 'chains.cancel', dryRun: 'chains.cancelPlan', operands: ['network'], text: cancelText },
    help: 'Cancel open requests. Payments that a rescan has already found stay. Safe to repeat. Exits with 1 if a request is already running.',
    flags: { mode: MODE, kind: { help: 'only this kind of request' } },
    dryText: cancelPlanText,
    isFailure: ({ tooLate }: { readonly tooLate: readonly unknown[] }) => tooLate.length > 0,
  },
  'chain release-deadlines': {
    ...{ procedure: 'chains.releaseDeadlines', dryRun: 'chains.releasePlan', operands: ['network'] },
    help: 'Let unpaid invoices of a stuck network expire although its blocks were not scanned. Saved in the audit log. Safe to repeat.',
    flags: {
      mode: MODE,
      through: { help: 'last deadline to release, not in the future: a time, or 10m (ago)', read: parseMoment },
    },
    ...{ text: releaseText, dryText: releasePlanText },
  },
}
