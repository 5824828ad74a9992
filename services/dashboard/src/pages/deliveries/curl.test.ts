import { expect, test } from 'vitest'
import { curlOf } from './curl.ts'

// Guarantee: a body or URL that somebody else chose cannot run a command in the operator's shell.
test('every text of others stays inside its quotes', () => {
  const command = curlOf("https://a.example/'; rm -rf ~; '", { 'X-A': "b'$(id)" }, `{"a":"'; id; '"}`)
  expect(command.replaceAll(/'(?:[^']|'\\'')*'/g, 'Q')).toBe(
    'curl -X POST \\\n  Q \\\n  -H Q \\\n  --data-binary \\\n  Q',
  )
})
