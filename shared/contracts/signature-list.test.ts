import { expect, it } from 'vitest'
import { readSignatureList } from './signature-list.ts'

it.each([
  ['plain lines', 'a,1\nb,2'],
  ['a header, Windows line ends and a mark', '\uFEFFAddress,Signature\r\na,1\r\nb,2\r\n'],
  ['quotes and semicolons', '"address";"signature"\n"a";"1"\n"b";"2"'],
  ['tabs and empty lines', '\na\t1\n\nb\t2\n'],
])('reads %s', (_name, text) => {
  expect(readSignatureList(text)).toEqual([
    { address: 'a', signature: '1' },
    { address: 'b', signature: '2' },
  ])
})

it.each(['', 'address,signature', 'a', 'a,', ',1', 'a,1,2', 'a,1\nb'])('refuses %j', (text) => {
  expect(readSignatureList(text)).toBeNull()
})

it('refuses more lines than a pool may have', () => {
  expect(readSignatureList('a,1\n'.repeat(10_000))).toHaveLength(10_000)
  expect(readSignatureList('a,1\n'.repeat(10_001))).toBeNull()
})
