import { type Command, InvalidArgumentError } from 'commander'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { type AuditHeadMark, type AuditVerdict, verifyAudit } from '#shared/usecases/audit/verify-audit.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

const TELL_EVERY_MS = 1_000

function parseHead(text: string): AuditHeadMark {
  const [, seq = '', hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === '' || seq === '0') throw new InvalidArgumentError('must be NUMBER:HASH as printed by an earlier run')
  return { seq: Number(seq), hash }
}

/** Reports the progress of a long walk on stderr, so that the output of `--json` remains one value. */
function progressTeller(): (checked: number, total: number) => void {
  let reportedAt = performance.now()
  return (checked, total) => {
    if (performance.now() - reportedAt < TELL_EVERY_MS) return
    reportedAt = performance.now()
    process.stderr.write(`${checked} of ${total} rows checked\n`)
  }
}

function textOf({ intact, checked, firstBreak, head, signedFrom, underFormerKeys, unchained }: AuditVerdict): string {
  const { waiting, outside, oldestWaitingAt } = unchained
  const since = oldestWaitingAt === null ? '' : `, the oldest since ${new Date(oldestWaitingAt).toISOString()}`
  return [
    intact ? `Audit log intact: ${checked} rows verified.` : `Audit log broken after ${checked} valid rows.`,
    ...(firstBreak === null ? [] : [firstBreak.words]),
    ...(signedFrom === null ? [] : [`Signed from row ${signedFrom} on.`]),
    ...(underFormerKeys === 0
      ? []
      : [`${underFormerKeys} rows are signed with former master keys; a later signature covers them.`]),
    ...(waiting === 0 ? [] : [`${waiting} rows are not in the chain yet${since}; the maintenance process adds them.`]),
    ...(outside === 0
      ? []
      : [
          `${outside} rows are outside the chain. Rows of versions without a chain are added once, by the first maintenance process of this version.`,
        ]),
    ...(head === null
      ? []
      : [`Store the last row outside the installation, and pass it to --since next time: ${head.seq}:${head.hash}`]),
  ].join('\n')
}

/** `audit verify`: status 0 when every chained row is unchanged, else 1. */
export function addAuditCommands(program: Command): void {
  program
    .command('audit')
    .description('The signed hash chain of the audit log.')
    .command('verify')
    .description(
      'Verify every row of the audit log and name the first that was changed, removed, moved or inserted. Exits with 1 at the first break; counts rows that are not chained yet.',
    )
    .option(
      '--since <number:hash>',
      'last row of an earlier run: proves that the log was not truncated since',
      parseHead,
    )
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly since?: AuditHeadMark }) => {
      await withInstallation(async ({ db, config }) => {
        const parts = { chain: createAuditChainRepository(db), keys: createAuditKeys(config.secrets.masterKey) }
        const verdict = await verifyAudit(parts, {
          since: options.since ?? null,
          onProgress: progressTeller(),
        })
        print(options, snakeCase(verdict), textOf(verdict))
        if (!verdict.intact) process.exitCode = 1
      })
    })
}
