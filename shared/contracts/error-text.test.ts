import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { errorCauses, errorCode, errorText } from './error-text.ts'

const system = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code })

it.each<[string, unknown, string, string | null]>([
  ['an error', new Error('out of paper'), 'out of paper', null],
  [
    'a wrapped one',
    new TypeError('fetch failed', { cause: system('ECONNREFUSED') }),
    'fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    'ECONNREFUSED',
  ],
  [
    'a wrapper that repeats its cause',
    new Error('a: connect EPIPE 127.0.0.1:1', { cause: system('EPIPE') }),
    'a: connect EPIPE 127.0.0.1:1',
    'EPIPE',
  ],
  [
    'several addresses',
    new AggregateError([system('ECONNREFUSED'), system('ENETUNREACH')]),
    'connect ECONNREFUSED 127.0.0.1:1: connect ENETUNREACH 127.0.0.1:1',
    'ECONNREFUSED',
  ],
  ['a code without words', Object.assign(new Error(''), { code: 'EAI_AGAIN' }), 'EAI_AGAIN', 'EAI_AGAIN'],
  ['nothing but a name', new RangeError(''), 'RangeError', null],
  ['a text', 'gone', 'gone', null],
  ['one that an object caused', new Error('no server', { cause: { servers: 3 } }), 'no server', null],
  ['nothing', undefined, 'unknown error', null],
])('says what %s says, with its causes', (_what, error, text, code) => {
  expect(errorText(error)).toBe(text)
  expect(errorCode(error)).toBe(code)
})

it('names the system’s error of a connection that nobody accepts, by each address of its host', async () => {
  const error = await new Promise<unknown>((resolve) => connect({ host: 'localhost', port: 9 }).once('error', resolve))
  expect(errorText(error)).toContain('ECONNREFUSED')
  expect(errorCode(error)).toBe('ECONNREFUSED')
})

it('ends with an error that causes itself', () => {
  const loop = new Error('loop')
  loop.cause = new Error('again', { cause: loop })
  expect(errorText(loop)).toBe('loop: again')
  let deep = new Error('0')
  for (let depth = 1; depth < 100; depth += 1) deep = new Error(`${depth}`, { cause: deep })
  expect(errorCauses(deep).length).toBeLessThan(20)
})

/** `error instanceof Error ? error.message : …` loses the cause, whatever the variable is called. */
const WITHOUT_CAUSE = /(\w+) instanceof Error \? \1\.(message|name) :/

function* sources(folder: string): Generator<string> {
  for (const name of readdirSync(join(ROOT, folder))) {
    const path = join(folder, name)
    if (statSync(join(ROOT, path)).isDirectory()) {
      if (name !== 'node_modules') yield* sources(path)
    } else if (/\.(ts|tsx|mjs)$/.test(name) && !/\.test\.tsx?$/.test(name)) yield path
  }
}

// Guarantee: no place makes text of an error without its causes: an operator reads "refused the connection", never "Error".
it('is how every text of an error is made', () => {
  expect(WITHOUT_CAUSE.test('const t = cause instanceof Error ? cause.message : String(cause)')).toBe(true)
  const found = ['scripts', 'services', 'shared', 'dev'].flatMap((folder) => [...sources(folder)])
  expect(found.length).toBeGreaterThan(500)
  const faults = found.filter((path) => WITHOUT_CAUSE.test(readFileSync(join(ROOT, path), 'utf8')))
  // The first names only the kind of an error whose text may quote a URL with its secrets; the second is that function itself.
  expect(faults.sort()).toEqual(['shared/chains/nodes/http-endpoint.ts', 'shared/contracts/error-text.ts'])
})
