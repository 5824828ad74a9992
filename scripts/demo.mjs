// `npm run demo`: bundles what changed, then runs the demo (scripts/demo/main.ts).
import './machine/node-version.mjs'
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const { prepareStart } = await import('./machine/requirements.ts')
const args = await prepareStart(process.argv.slice(2))
if (args === null) process.exit(1)
const { runDemo } = await import(await bundled('scripts/demo/main.ts', (line) => process.stdout.write(`  ${line}\n`)))
process.exit(await runDemo(args))
