// `npm run test:deep -- clients`: generates clients from docs/openapi.json with common generators and lets each call every operation of
// a running installation; imports the document into Postman's runner as well. A generator whose tools are not installed is named and
// left out. Writes a table to docs/reports/clients.md. Downloads with Maven, pip, npm and Go's module proxy; only the report is kept.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startStack } from '#scripts/start/stack.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { DOCUMENT, GENERATORS, type Generator } from './generators.ts'
import { LATER_CODE, startLaterServer, writeLaterEvents } from './later-server.ts'
import { Shell } from './shell.ts'

const work = mkdtempSync(join(tmpdir(), 'paymesh-clients-'))

const isInstalled = (command: string): boolean =>
  spawnSync(command, ['--help'], { stdio: 'ignore' }).error === undefined
const oneLine = (text: string): string => text.trim().replaceAll('|', '/').replace(/\s+/g, ' ')

async function resultOf({ needs, run }: Generator, shell: Shell, folder: string): Promise<readonly [string, string]> {
  const missing = needs.filter((command) => !isInstalled(command))
  if (missing.length > 0) return ['left out', `not installed: ${missing.join(', ')}`]
  mkdirSync(folder)
  try {
    return ['passed', oneLine((await run(shell, folder)).trim().split('\n').at(-1) ?? '')]
  } catch (error) {
    return ['failed', oneLine(errorText(error))]
  }
}

/** A story makes fewer requests than this; all of them have one key, whose limit of requests must not refuse the last. */
const REQUESTS_MAX = 50

/** Resolves when the key may make the requests of a story. */
async function untilAllowed(baseUrl: string, apiKey: string): Promise<void> {
  for (;;) {
    const { headers } = await fetch(`${baseUrl}/currencies`, { headers: { authorization: `Bearer ${apiKey}` } })
    if (Number(headers.get('x-ratelimit-remaining')) >= REQUESTS_MAX) return
    await delay(1_000)
  }
}

async function main(): Promise<number> {
  const stack = await startStack({ dataDir: join(work, 'data'), networks: ['ethereum'] })
  const rows: (readonly [string, string, string])[] = []
  try {
    const { apiUrl, testKey } = stack.dev
    const later = await startLaterServer(apiUrl)
    const recorded = ['invoice.paid', 'payment.confirmed'].map((name) => resolve(`docs/events/${name}.json`))
    const events = writeLaterEvents(recorded, join(work, 'events')).join(':')
    const settings = { API_KEY: testKey, EVENT_FILES: events, ERROR_CODE: LATER_CODE, DOCUMENT }
    const shell = new Shell({ BASE_URL: later.baseUrl, ...settings })
    const named = process.argv.slice(2)
    for (const [index, generator] of GENERATORS.entries()) {
      if (named.length > 0 && !named.some((part) => generator.name.includes(part))) continue
      await untilAllowed(apiUrl, testKey)
      const row = [generator.name, ...(await resultOf(generator, shell, join(work, String(index))))] as const
      rows.push(row)
      process.stdout.write(`${row.join(': ')}\n`)
    }
    later.close()
    if (named.length > 0) return rows.every(([, result]) => result === 'passed') ? 0 : 1
  } finally {
    await stack.stop()
    rmSync(work, { recursive: true, force: true })
  }
  const before = existsSync('docs/reports/clients.md') ? readFileSync('docs/reports/clients.md', 'utf8') : ''
  const text = reportOf(rows)
  if (text !== before) writeFileSync('docs/reports/clients.md', text)
  return rows.some(([, result]) => result !== 'passed') ? 1 : 0
}

function reportOf(rows: readonly (readonly string[])[]): string {
  return `# Generated clients

From \`docs/openapi.json\` by \`npm run test:deep -- clients\`: each generated client calls all 19 operations of a running installation, reads the error
of an unknown invoice, and reads events ([programs](../../dev/generators/stories)), all from a later server: it has a field more in every object, in every list an
item with a new status, asset, network and currency, a new error code, and events with a new field, type, asset, currency, status and version, one at a time and
all at once ([later-server.ts](../../dev/generators/later-server.ts)). Postman's runner sends each request once, with the address, the key and the ids of a
seeded workspace filled in: those of an import of the document, and those of the collection that is committed. datamodel-code-generator makes models without calls:
its program sends them with Python's own HTTP client. No current SDK of .NET for Linux is among the packages of Debian, PyPI, npm, Go and Maven, so the C# client is the one with
\`library=httpclient,targetFramework=net48\`, compiled and run by Debian's mono with Json.NET 6.0.8; the default one (\`generichost\`, .NET 10) was not run.

| generator | result | what the program reported |
|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`
}

process.exit(await main())
