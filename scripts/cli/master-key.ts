import type { Command } from 'commander'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { AuditChainBroken, extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { type RotationReport, rotateMasterKey } from '#shared/usecases/maintenance/rotate-master-key.ts'
import { actorName } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressPrinter } from './text/progress-printer.ts'
import { snakeCase } from './text/snake-case.ts'

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none'

function textOf(
  { keyId, moved, left, unreadable, auditSigned, complete, processesWithout }: RotationReport,
  dryRun: boolean,
): string {
  return [
    ...(dryRun ? [] : [`Moved to master key ${keyId}: ${listed(moved)}.`]),
    complete
      ? `All values are sealed under ${keyId}${processesWithout.length === 0 ? '; you can remove PAYMESH_MASTER_KEYS_OLD' : ''}.`
      : `Still sealed under another key: ${listed(left)}.`,
    ...(processesWithout.length === 0
      ? []
      : [
          `Keep PAYMESH_MASTER_KEYS_OLD: ${processesWithout.length} running processes do not have ${keyId}. Restart them with it:`,
          ...processesWithout.map((one) => `  ${one}`),
        ]),
    ...(auditSigned ? [] : ['The audit log could not be signed with this key: run `paymesh audit verify`.']),
    ...(unreadable.count === 0
      ? []
      : [
          `${unreadable.count} values cannot be opened with any configured key:`,
          ...unreadable.first.map((one) => `  ${one}`),
        ]),
  ].join('\n')
}

/** `master-key rotate`: status 0 when nothing is left under another key and every running process has it, else 1. */
export function addMasterKeyCommands(program: Command): void {
  program
    .command('master-key')
    .description('Manage the master key, which seals stored secrets.')
    .command('rotate')
    .description(
      'Reseal every stored secret under PAYMESH_MASTER_KEY; keys in PAYMESH_MASTER_KEYS_OLD open older values. Safe to stop, to repeat, and to run while processes with both keys are running.',
    )
    .option('--dry-run', 'count and open everything, change nothing')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly dryRun?: boolean }) => {
      const dryRun = options.dryRun === true
      await withInstallation(async (installation) => {
        const deps = {
          ...installation,
          sealed: createSealedSecretRepository(installation.db),
          rotation: installation.secretBox,
          signAudit: async () => {
            try {
              await extendAuditChain(installation, () => false)
              return true
            } catch (error) {
              if (error instanceof AuditChainBroken) return false
              throw error
            }
          },
        }
        const tell = progressPrinter()
        const report = await rotateMasterKey(deps, {
          actor: actorName(),
          dryRun,
          onProgress: ({ collection, seen, total }) => tell(`${collection}: ${seen} of ${total} documents`),
        })
        print(options, snakeCase(report), textOf(report, dryRun))
        if (!report.complete || report.processesWithout.length > 0) process.exitCode = 1
      })
    })
}
