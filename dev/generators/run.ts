// `npm run test:deep -- clients`: generates clients from docs/openapi.json with common generators and lets each call every operation of
// a running installation; imports the document into Postman's runner as well. A generator whose tools are not installed is named and
// left out. Writes a table to docs/reports/clients.md. Downloads with Maven, pip, npm and Go's module proxy; only the report is kept.

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startStack } from '#scripts/start/stack.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { LATER_CODE, startLaterServer, writeLaterEvents } from './later-server.ts'

const DOCUMENT = resolve('docs/openapi.json')
const STORIES = resolve('dev/generators/stories')
const OPENAPI_GENERATOR = '7.19.0'
const OAPI_CODEGEN = 'v2.8.2'
const OPENAPI_PYTHON_CLIENT = '0.29.1'
const OPENAPI_TO_POSTMAN = '6.3.3'
const NEWMAN = '6.2.2'
const LIMIT_MS = 10 * 60_000

const work = mkdtempSync(join(tmpdir(), 'paymesh-clients-'))
const jar = join(work, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)

/** Settings of a story: address, key, events, the code of an unknown invoice, the document, and the folder of the client. */
type StorySettings = Readonly<Record<'BASE_URL' | 'API_KEY' | 'EVENT_FILES' | 'ERROR_CODE' | 'DOCUMENT', string>>

/** A program in a folder, which must end with status 0. The installation runs in this process, so nothing here may block it. */
class Shell {
  readonly #settings: StorySettings
  constructor(settings: StorySettings) {
    this.#settings = settings
  }

  /** Runs a command; resolves with its output, or rejects with the end of it. */
  async run(folder: string, command: string, ...args: readonly string[]): Promise<string> {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...this.#settings, CLIENT: folder, GOFLAGS: '-mod=mod' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    let [output, text] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part
      text += part
    })
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const status = await new Promise<number | null>((ended, failed) => {
      child.once('error', failed)
      child.once('close', ended)
    })
    if (status === 0) return output
    throw new Error(`${command} ${args[0]}: ${text.trim().split('\n').slice(-4).join(' / ').slice(-400)}`)
  }
}

/** A generator: the tools it needs, and the generation and story; the result is the last line that the story printed. */
interface Generator {
  readonly name: string
  readonly needs: readonly string[]
  run(shell: Shell, folder: string): Promise<string>
}

async function openapiGenerator(shell: Shell, language: string, folder: string): Promise<void> {
  if (!existsSync(jar)) {
    const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
    await shell.run(work, 'mvn', '-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${work}`)
  }
  const names = '--additional-properties=packageName=paymesh,gemName=paymesh'
  const php = language === 'php' ? ',invokerPackage=Paymesh' : ''
  await shell.run(work, 'java', '-jar', jar, 'generate', '-i', DOCUMENT, '-g', language, '-o', folder, `${names}${php}`)
}

/** Puts a story beside a generated Go client and runs it. */
async function runGo(shell: Shell, client: string, story: string): Promise<string> {
  await shell.run(client, 'go', 'mod', 'edit', '-module', 'example.com/paymesh')
  const folder = join(client, 'story')
  mkdirSync(folder)
  cpSync(join(STORIES, story), join(folder, 'main.go'))
  writeFileSync(
    join(folder, 'go.mod'),
    'module example.com/story\n\ngo 1.24\n\nrequire example.com/paymesh v0.0.0\nreplace example.com/paymesh => ../\n',
  )
  await shell.run(folder, 'go', 'mod', 'tidy')
  return await shell.run(folder, 'go', 'run', '.')
}

/** A virtual environment with packages from PyPI. */
async function python(shell: Shell, folder: string, ...packages: readonly string[]): Promise<string> {
  await shell.run(folder, 'python3', '-m', 'venv', 'venv')
  await shell.run(folder, 'venv/bin/pip', 'install', '-q', ...packages)
  return join(folder, 'venv', 'bin')
}

const GENERATORS: readonly Generator[] = [
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Python`,
    needs: ['mvn', 'java', 'python3'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'python', folder)
      const bin = await python(shell, folder, '.')
      return await shell.run(folder, join(bin, 'python'), join(STORIES, 'openapi_generator.py'))
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Go`,
    needs: ['mvn', 'java', 'go'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'go', folder)
      // Its example tests import a module name that exists nowhere.
      rmSync(join(folder, 'test'), { recursive: true })
      return await runGo(shell, folder, 'openapi_generator.go')
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, PHP`,
    needs: ['mvn', 'java', 'php'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'php', folder)
      const sources = readdirSync(join(folder, 'lib'), { recursive: true, encoding: 'utf8' })
      for (const file of sources.filter((name) => name.endsWith('.php')))
        await shell.run(folder, 'php', '-l', join('lib', file))
      // Guzzle as Debian installs it (php-guzzlehttp-guzzle).
      return await shell.run(folder, 'php', '-d', 'include_path=/usr/share/php', join(STORIES, 'openapi_generator.php'))
    },
  },
  {
    name: `openapi-generator ${OPENAPI_GENERATOR}, Ruby`,
    needs: ['mvn', 'java', 'ruby'],
    run: async (shell, folder) => {
      await openapiGenerator(shell, 'ruby', folder)
      // Typhoeus as Debian installs it (ruby-typhoeus).
      return await shell.run(folder, 'ruby', '-I', 'lib', join(STORIES, 'openapi_generator.rb'))
    },
  },
  {
    name: `oapi-codegen ${OAPI_CODEGEN}, Go`,
    needs: ['go'],
    run: async (shell, folder) => {
      writeFileSync(join(folder, 'go.mod'), 'module example.com/client\n\ngo 1.24\n')
      const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
      const source = await shell.run(
        work,
        'go',
        'run',
        tool,
        '-generate',
        'types,client',
        '-package',
        'client',
        DOCUMENT,
      )
      writeFileSync(join(folder, 'client.go'), source)
      await shell.run(folder, 'go', 'mod', 'tidy')
      await shell.run(folder, 'go', 'vet', './...')
      return await runGo(shell, folder, 'oapi_codegen.go')
    },
  },
  {
    name: `openapi-python-client ${OPENAPI_PYTHON_CLIENT}, Python`,
    needs: ['python3'],
    run: async (shell, folder) => {
      const bin = await python(shell, folder, `openapi-python-client==${OPENAPI_PYTHON_CLIENT}`, 'ruff')
      const generate = [join(bin, 'openapi-python-client'), 'generate', '--path', DOCUMENT, '--output-path', 'client']
      await shell.run(folder, 'env', `PATH=${bin}:${process.env['PATH']}`, ...generate)
      const story = join(STORIES, 'openapi_python_client.py')
      return await shell.run(folder, 'env', `PYTHONPATH=${join(folder, 'client')}`, join(bin, 'python'), story)
    },
  },
  {
    name: `Postman (openapi-to-postmanv2 ${OPENAPI_TO_POSTMAN}, newman ${NEWMAN})`,
    needs: ['npm'],
    run: async (shell, folder) => {
      writeFileSync(join(folder, 'package.json'), '{ "private": true }')
      const packages = [`openapi-to-postmanv2@${OPENAPI_TO_POSTMAN}`, `newman@${NEWMAN}`]
      await shell.run(folder, 'npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages)
      return await shell.run(folder, process.execPath, join(STORIES, 'postman.mjs'))
    },
  },
]

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
    if (named.length > 0) return rows.some(([, result]) => result !== 'passed') ? 1 : 0
  } finally {
    await stack.stop()
    rmSync(work, { recursive: true, force: true })
  }
  const before = existsSync('docs/reports/clients.md') ? readFileSync('docs/reports/clients.md', 'utf8') : ''
  const text = reportOf(rows)
  if (text !== before) writeFileSync('docs/reports/clients.md', text)
  return rows.some(([, result]) => result === 'failed') ? 1 : 0
}

function reportOf(rows: readonly (readonly string[])[]): string {
  return `# Generated clients

From \`docs/openapi.json\` by \`npm run test:deep -- clients\`: each generated client calls all 19 operations of a running installation, reads the error
of an unknown invoice, and reads events ([programs](../../dev/generators/stories)), all from a later server: it has a field more in every object, in every list an
item with a new status, asset, network and currency, a new error code, and events with a new field, type, asset, currency, status and version, one at a time and
all at once ([later-server.ts](../../dev/generators/later-server.ts)). Java and C# were not tried. Postman's runner sends each imported request once,
with the address, the key and the ids of a seeded workspace filled in.

| generator | result | what the program reported |
|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`
}

process.exit(await main())
