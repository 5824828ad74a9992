// `npm start`: bundles what changed, then runs everything (scripts/start/main.ts).
import './machine/node-version.mjs'
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const { prepareStart } = await import('./machine/requirements.ts')
const args = await prepareStart(process.argv.slice(2))
if (args === null) process.exit(1)
const entry = await bundled('scripts/start/main.ts', (line) => process.stdout.write(`  ${line}\n`))
const { runStart } = await import(entry)
await runStart(args)
