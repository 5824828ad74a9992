import { type Command, InvalidArgumentError } from 'commander'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { type AuditVerdict, type NotedHead, verifyAudit } from '#shared/usecases/audit/verify-audit.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

const TELL_EVERY_MS = 1_000

function parseHead(text: string): NotedHead {
  const [, seq = '', hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === '' || seq === '0') throw new InvalidArgumentError('NUMBER:HASH as an earlier run printed it is needed')
  return { seq: Number(seq), hash }
}

/** Says now and then how far a long walk is, on stderr, so that `--json` stays one value. */
function progressTeller(): (checked: number, total: number) => void {
  let toldAt = performance.now()
  return (checked, total) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    process.stderr.write(`${checked} of ${total} rows checked\n`)
  }
}

function textOf({ intact, checked, firstBreak, head, signedFrom, underFormerKeys, unchained }: AuditVerdict): string {
  const { waiting, outside, oldestWaitingAt } = unchained
  const since = oldestWaitingAt === null ? '' : `, the oldest since ${new Date(oldestWaitingAt).toISOString()}`
  return [
    intact ? `The audit trail is intact: ${checked} rows.` : `The audit trail is broken after ${checked} sound rows.`,
    ...(firstBreak === null ? [] : [firstBreak.words]),
    ...(signedFrom === null ? [] : [`Signed from row ${signedFrom} on.`]),
    ...(underFormerKeys === 0
      ? []
      : [`${underFormerKeys} rows are signed under former master keys; a later row vouches for them.`]),
    ...(waiting === 0
      ? []
      : [`${waiting} rows wait for their place${since}; a running maintenance process chains them.`]),
    ...(outside === 0
      ? []
      : [`${outside} rows stand outside of the chain; a starting maintenance process takes them in.`]),
    ...(head === null
      ? []
      : [`Note the last row elsewhere, and pass it to --noted next time: ${head.seq}:${head.hash}`]),
  ].join('\n')
}

/** `verify-audit`: status 0 when every chained row is what was written, else 1. */
export function addVerifyAuditCommand(program: Command): void {
  program
    .command('verify-audit')
    .description(
      'Walk the audit trail and say where it was changed, cut, reordered or forked. Status 1 at the first break; rows not chained yet are counted.',
    )
    .option('--noted <number:hash>', 'last row of an earlier run: shows that the end was not cut off since', parseHead)
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly noted?: NotedHead }) => {
      await withInstallation(async ({ db, config }) => {
        const parts = { chain: createAuditChainRepository(db), keys: createAuditKeys(config.secrets.masterKey) }
        const verdict = await verifyAudit(parts, { noted: options.noted ?? null, onProgress: progressTeller() })
        print(options, snakeCase(verdict), textOf(verdict))
        if (!verdict.intact) process.exitCode = 1
      })
    })
}
