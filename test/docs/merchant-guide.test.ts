import { execFileSync, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { codeBlocks } from './code-blocks.ts'

const GUIDE = readFileSync('docs/guide/merchant.md', 'utf8')
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9r8GKYqrTwg='
/** During a rotation receivers accept both. */
const OLD_SECRET = 'whsec_b2xkZXIgc2VjcmV0IG9mIHRoaXMgZW5kcG9pbnQ='
const SECRETS = JSON.stringify([OLD_SECRET, SECRET])
const BODY = Buffer.from('{"id":"evt_1","text":"Café ☕ – ünïcödé"}\n')
const RUN_MS = 120_000
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-guide-'))
  writeFileSync(join(folder, 'body'), BODY)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sign = (t: number, secret = SECRET, body: Buffer = BODY) =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`

/** By what it guards: a header that must pass or be refused at the moment `t`. */
function headers(): readonly (readonly [header: string, genuine: boolean])[] {
  const t = Math.floor(Date.now() / 1_000)
  const genuine = sign(t)
  return [
    [genuine, true],
    [sign(t - 240), true],
    [sign(t + 240), true],
    [sign(t, OLD_SECRET), true],
    [sign(t - 600), false],
    [sign(t + 600), false],
    [sign(t, 'whsec_another'), false],
    [sign(t, SECRET, Buffer.from('{}')), false],
    [genuine.replace(/v1=.{4}/, 'v1=0000'), false],
    [genuine.slice(0, -1), false],
    [`${genuine}\n`, false],
    [`x${genuine}`, false],
    // Handed over as what a missing header is in that language.
    ['', false],
    ['t=,v1=', false],
  ]
}

interface Language {
  readonly file: string
  /** Writes what calls the block, and says how to run it: it prints `true` or `false` a line for each header it is given. */
  prepare(code: string): readonly string[]
}

const write = (file: string, text: string) => {
  writeFileSync(join(folder, file), text)
  return join(folder, file)
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  typescript: {
    file: 'webhook.ts',
    prepare: (code) => {
      write('package.json', '{"type":"module"}')
      write('webhook.ts', code)
      const main = `import { readFileSync } from 'node:fs'\nimport { verify } from './webhook.ts'\nconst [body = '', ...given] = process.argv.slice(2)\nfor (const header of given) process.stdout.write(verify(readFileSync(body), header === '' ? undefined : header, ${SECRETS}) + '\\n')\n`
      return [
        process.execPath,
        '--import',
        join(process.cwd(), 'node_modules/tsx/dist/esm/index.mjs'),
        write('main.ts', main),
      ]
    },
  },
  python: {
    file: 'webhook.py',
    prepare: (code) => {
      write('webhook.py', code)
      const main = `import sys\nfrom webhook import verify\nbody = open(sys.argv[1], "rb").read()\nfor header in sys.argv[2:]:\n    print("true" if verify(body, header or None, ${SECRETS}) else "false")\n`
      return ['python3', write('main.py', main)]
    },
  },
  go: {
    file: 'webhook.go',
    prepare: (code) => {
      write('webhook.go', code.replace('package webhook', 'package main'))
      write('go.mod', 'module guide\n\ngo 1.19\n')
      const main = `package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"time"\n)\n\nfunc main() {\n\tbody, err := os.ReadFile(os.Args[1])\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tfor _, given := range os.Args[2:] {\n\t\tfmt.Println(Verify(body, given, []string{${SECRETS.slice(1, -1)}}, time.Now()))\n\t}\n}\n`
      write('main.go', main)
      execFileSync('go', ['build', '-o', 'guide', '.'], {
        cwd: folder,
        env: { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' },
      })
      return [join(folder, 'guide')]
    },
  },
  php: {
    file: 'webhook.php',
    prepare: (code) => {
      write('webhook.php', code)
      const main = `<?php require __DIR__ . '/webhook.php';\n$body = file_get_contents($argv[1]);\nforeach (array_slice($argv, 2) as $header) echo verify($body, $header === '' ? null : $header, ${SECRETS}) ? "true\\n" : "false\\n";\n`
      return ['php', write('main.php', main)]
    },
  },
  ruby: {
    file: 'webhook.rb',
    prepare: (code) => {
      write('webhook.rb', code)
      const main = `require_relative 'webhook'\nbody = File.binread(ARGV[0])\nARGV.drop(1).each { |header| puts verify(body, header.empty? ? nil : header, ${SECRETS}) }\n`
      return ['ruby', write('main.rb', main)]
    },
  },
}

const installed = (command: string) => spawnSync(command, ['--version']).error === undefined
/**
 * TypeScript and Python are run wherever the tests run; Go, whose first build on a machine takes a minute, in the stage `cases`; PHP and
 * Ruby in the same stage where they are installed.
 */
const RUN = Object.keys(LANGUAGES).filter(
  (name) => ['typescript', 'python'].includes(name) || (EVERY_CASE && (name === 'go' || installed(name))),
)

// Guards money: what merchants copy from the guide takes genuine deliveries and refuses every other.
describe('the blocks that verify a webhook', () => {
  test('are there for five languages', () => {
    const files = codeBlocks(GUIDE).flatMap(({ attributes }) => attributes['verify'] ?? [])
    expect(files.sort()).toEqual(
      Object.values(LANGUAGES)
        .map(({ file }) => file)
        .sort(),
    )
  })

  test.each(RUN)('%s', { timeout: RUN_MS }, (name) => {
    const language = LANGUAGES[name]
    const block = codeBlocks(GUIDE).find(({ attributes }) => attributes['verify'] === language?.file)
    const [command = '', ...args] = language?.prepare(block?.code ?? '') ?? []
    const cases = headers()
    const out = execFileSync(command, [...args, join(folder, 'body'), ...cases.map(([header]) => header)], {
      encoding: 'utf8',
    })
    expect(
      out
        .trim()
        .split('\n')
        .map((line, at) => [cases[at]?.[0], line.trim()]),
    ).toEqual(cases.map(([header, genuine]) => [header, String(genuine)]))
  })
})

/** A guide as one line of text, whatever its line breaks. */
const textOf = (name: string): string => readFileSync(`docs/guide/${name}.md`, 'utf8').replace(/\s+/g, ' ')

// Guarantee: a shop that follows the guide never books money that a payer or a chain can still take back.
test('the guides say which payment events are added up, and which loss has no event', () => {
  const merchant = textOf('merchant')
  expect(merchant).toContain('add up the amounts of `payment.confirmed`, never of `payment.detected`')
  expect(merchant).toMatch(
    /takes back a confirmed payment .* `received` of the invoice falls, and an exception .* \*\*no event\*\*/,
  )
  expect(textOf('operator')).toMatch(
    /reorganised out after an invoice was paid lowers \*received\*, opens an exception .* gets no event/,
  )
})
