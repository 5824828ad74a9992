import { type Command, InvalidArgumentError } from 'commander'
import type { AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import { acknowledgeBreak } from '#shared/usecases/audit/acknowledge-break.ts'
import type { AnsweredBreak } from '#shared/usecases/audit/audit-breaks.ts'
import { type AuditVerdict, verifyAudit } from '#shared/usecases/audit/verify-audit.ts'
import { actorName } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressPrinter } from './text/progress-printer.ts'
import { snakeCase } from './text/snake-case.ts'

function parseHead(text: string): AuditHeadMark {
  const [, seq = '', hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === '' || seq === '0') throw new InvalidArgumentError('must be NUMBER:HASH as printed by an earlier run')
  return { seq: Number(seq), hash }
}

function answerText({ seq, words, by, at, reason }: AnsweredBreak): string {
  return `Answered by ${by} at ${new Date(at).toISOString()}: ${words} (row ${seq}). Reason: ${reason}`
}

function textOf({
  intact,
  checked,
  firstBreak,
  head,
  underFormerKeys,
  unchained,
  answered,
  unrecorded,
}: AuditVerdict): string {
  const { waiting, oldestWaitingAt } = unchained
  const since = oldestWaitingAt === null ? '' : `, the oldest since ${new Date(oldestWaitingAt).toISOString()}`
  return [
    intact ? `Audit log intact: ${checked} rows verified.` : `Audit log broken after ${checked} valid rows.`,
    ...(firstBreak === null ? [] : [firstBreak.words]),
    ...(unrecorded.length === 0 ? [] : ['Without an audit row:', ...unrecorded.map((one) => `  ${one}`)]),
    ...answered.map(answerText),
    ...(underFormerKeys === 0
      ? []
      : [`${underFormerKeys} rows are signed with former master keys; a later signature covers them.`]),
    ...(waiting === 0 ? [] : [`${waiting} rows are not in the chain yet${since}; the maintenance process adds them.`]),
    ...(head === null
      ? []
      : [`Store the last row outside the installation, and pass it to --since next time: ${head.seq}:${head.hash}`]),
  ].join('\n')
}

async function verify(options: OutputOptions & { readonly since?: AuditHeadMark }): Promise<void> {
  await withInstallation(async (installation) => {
    const report = progressPrinter()
    const onProgress = (checked: number, total: number) => report(`${checked} of ${total} rows checked`)
    const input = { since: options.since ?? null, onProgress }
    const verdict = await verifyAudit(installation, input)
    print(options, snakeCase(verdict), textOf(verdict))
    if (!verdict.intact) process.exitCode = 1
  })
}

async function acknowledge({ reason, ...options }: OutputOptions & { readonly reason: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const done = await acknowledgeBreak(installation, { actor: actorName(), reason })
    const { answered, rows, misfits, documents, seq } = done
    const text = [
      `Acknowledged in row ${seq}: ${answered.words}`,
      ...(rows === 0 ? [] : [`${rows} rows are accepted as they stand; ${misfits} of them do not fit.`]),
      ...documents.map((one) => `Accepted without an audit row: ${one}`),
      'Run `paymesh audit verify`.',
    ].join('\n')
    print(options, snakeCase(done), text)
  })
}

/** `audit verify`: status 0 when every chained row is unchanged, else 1; `audit acknowledge-break` answers a break. */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('The signed hash chain of the audit log.')
  audit
    .command('verify')
    .description(
      'Verify every row of the audit log and name the first that was changed, removed, moved or inserted; compare the end with the number recorded outside of the store, and accounts, keys, wallets and refunds with their rows. Exits with 1 at the first break, and until a break that was noticed is answered; counts rows that are not chained yet.',
    )
    .option(
      '--since <number:hash>',
      'last row of an earlier run: proves that the log was not truncated since',
      parseHead,
    )
    .option('--json', 'print one JSON value')
    .action(verify)
  audit
    .command('acknowledge-break')
    .description(
      'Answer a break of the audit log after an investigation: the rows from the first break on are accepted as they stand, and so are documents without a row. Stored in the audit log; a later change of an accepted row is a break again. Keep a copy of the database before.',
    )
    .requiredOption('--reason <text>', 'reason for the audit log')
    .option('--json', 'print one JSON value')
    .action(acknowledge)
}
