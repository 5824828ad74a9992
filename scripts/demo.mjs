// `npm run demo`: bundles what changed, then runs the demo (scripts/demo/main.ts).
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const { runDemo } = await import(await bundled('scripts/demo/main.ts', (line) => process.stdout.write(`  ${line}\n`)))
process.exit(await runDemo(process.argv.slice(2)))
