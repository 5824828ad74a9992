import type { Command } from 'commander'
import { runDiagnoses } from './diagnoses.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'

/** `doctor`: what works, what does not and what to do about it; status 1 when something is wrong. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check stores, indexes, clocks, nodes, rates and backlogs; says what to do about each fault.')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const diagnoses = await runDiagnoses(installation)
        const healthy = diagnoses.every((diagnosis) => diagnosis.ok)
        const text = diagnoses.map(({ ok, name, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`).join('\n')
        print(options, { healthy, checks: diagnoses }, text)
        if (!healthy) process.exitCode = 1
      })
    })
}
