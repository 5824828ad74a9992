import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { curlExample } from './curl-example.ts'
import type { PlacedOperation } from './read-document.ts'

/** The words that a POSIX shell makes of a command line, for a key `k` and without running curl. */
function wordsOf(command: string): readonly string[] {
  const script = `uuidgen() { echo uuid; }; curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command}`
  const output = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PAYMESH_API_KEY: 'k' } })
  return output.split('\0').slice(0, -1)
}

function placed(method: string, path: string, body?: unknown): PlacedOperation {
  const json = (example: unknown) => ({ content: { 'application/json': { schema: {}, example } } })
  return {
    method,
    path,
    operation: {
      ...{ operationId: 'x', tags: [], summary: '', description: '' },
      ...(body !== undefined && { requestBody: json(body) }),
      responses: { 200: { description: '', ...json({ data: { id: 'the-id' } }) } },
    },
  }
}

it('is one shell command whose words survive quotes and dollars in the example', () => {
  const body = { text: `it's "$HOME" \`id\` \\ done` }
  const words = wordsOf(curlExample('https://h/api/v1', placed('POST', '/things/{id}/do', body)))
  expect(words.slice(0, 9)).toEqual([
    ...['-X', 'POST', 'https://h/api/v1/things/the-id/do'],
    ...['-H', 'Authorization: Bearer k', '-H', 'Idempotency-Key: uuid', '-H', 'Content-Type: application/json'],
  ])
  expect(words[9]).toBe('-d')
  expect(JSON.parse(words[10] ?? '')).toEqual(body)
})

it('sends a GET without a body and without an idempotency key', () => {
  expect(wordsOf(curlExample('https://h', placed('GET', '/things')))).toEqual([
    ...['https://h/things', '-H', 'Authorization: Bearer k'],
  ])
})
