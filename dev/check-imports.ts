import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'

/** Fewer modules than this mean that dependency-cruiser found nothing, which it reports as success. */
const MODULES_MIN = 120

/** Runs every import rule over the given folders of `root` and returns dependency-cruiser's result. */
export async function cruiseImports(root: string, folders: readonly string[]): Promise<ICruiseResult> {
  const options = await extractDepcruiseOptions(`${process.cwd()}/.dependency-cruiser.cjs`)
  const { output } = await cruise([...folders], { ...options, baseDir: root }, undefined, {
    tsConfig: extractTSConfig(`${process.cwd()}/tsconfig.json`),
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser returned text instead of a result')
  return output
}

if (process.argv[1]?.endsWith('check-imports.ts')) {
  const { summary } = await cruiseImports(process.cwd(), [
    'services',
    'shared',
    'clients',
    'scripts',
    'test',
    'dev',
    'bench',
  ])
  for (const violation of summary.violations)
    process.stdout.write(`${violation.rule.name}: ${violation.from} → ${violation.to}\n`)
  process.stdout.write(`imports: ${summary.totalCruised} modules, ${summary.violations.length} violations\n`)
  if (summary.totalCruised < MODULES_MIN) {
    process.stdout.write(`imports: fewer than ${MODULES_MIN} modules were seen; the check itself is broken\n`)
    process.exitCode = 1
  }
  if (summary.violations.length > 0) process.exitCode = 1
}
