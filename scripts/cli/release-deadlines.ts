import { type Command, Option } from 'commander'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { type ReleasedDeadlines, releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { actorName } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { parseMoment } from './text/parse-time.ts'
import { parseNetwork, pickMode } from './text/pick-mode.ts'
import { snakeCase } from './text/snake-case.ts'

interface ReleaseOptions extends OutputOptions {
  readonly mode?: Mode
  readonly through: number
  readonly reason: string
  readonly dryRun?: boolean
}

async function release(network: NetworkId, { dryRun = false, ...options }: ReleaseOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = pickMode(installation, network, options.mode)
    const { through, reason } = options
    const opId = installation.random.uuid()
    const request = { mode, network, through, reason, dryRun, opId, actor: actorName() }
    const released = await releaseDeadlines(installation, request)
    print(options, snakeCase({ ...released, dryRun }), textOf(released, dryRun))
  })
}

function textOf({ plan, changed }: ReleasedDeadlines, dryRun: boolean): string {
  const { network, mode, height, stuck, passedUntil, through, waiting } = plan
  const state = stuck === null ? '' : ` ${stuck.sentence}`
  const where = `${mode} ${network} is at block ${height}.${state} Deadlines up to ${iso(passedUntil)} have already passed.`
  const invoices = waiting === 1 ? '1 open invoice' : `${waiting} open invoices`
  if (changed) {
    return `${where}\nReleased up to ${iso(through)}: ${invoices} expire within seconds. A payment found later that was sent in time still settles its invoice.`
  }
  if (dryRun) return `${where}\nThis was a dry run: a release up to ${iso(through)} would let ${invoices} expire.`
  return `${where}\nNothing to release: deadlines up to ${iso(through)} have already passed.`
}

const iso = (at: number): string => new Date(at).toISOString()

/** `chain release-deadlines`. */
export function addReleaseCommand(chain: Command): void {
  chain
    .command('release-deadlines')
    .argument('<network>', 'network id, as in asset ids', parseNetwork)
    .description(
      'Let unpaid invoices of a stuck network expire although its blocks were not scanned. Saved in the audit log. Safe to repeat.',
    )
    .requiredOption(
      '--through <time>',
      'last deadline to release, not in the future: a time, or 10m (ago)',
      parseMoment,
    )
    .requiredOption('--reason <text>', 'reason for the audit log')
    .addOption(new Option('--mode <mode>', 'default: the mode in which the network has a node').choices(MODES))
    .option('--dry-run', 'show how many invoices would expire; change nothing')
    .option('--json', 'print one JSON value')
    .action(release)
}
