import type { Command } from 'commander'
import { type Installation, withInstallation } from '../session/installation.ts'
import { type OutputOptions, print } from '../text/output.ts'
import { runDiagnoses } from './diagnoses.ts'

/** `doctor`: checks the installation and suggests fixes; status 1 when there is a fault. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check stores, indexes, clocks, nodes, rates and backlogs, and suggest a fix for each fault.')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      const diagnose = async (installation: Installation): Promise<void> => {
        const diagnoses = await runDiagnoses(installation)
        const healthy = diagnoses.every((diagnosis) => diagnosis.ok)
        const text = diagnoses.map(({ ok, name, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`).join('\n')
        print(options, { healthy, checks: diagnoses }, text)
        if (!healthy) process.exitCode = 1
      }
      await withInstallation(diagnose, { isChecked: false })
    })
}
