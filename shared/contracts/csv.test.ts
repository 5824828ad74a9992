import { describe, expect, it } from 'vitest'
import { csvHeading, csvLine } from './csv.ts'

describe('a line of CSV', () => {
  // Guarantee: no text of a customer or merchant runs as a formula in a spreadsheet.
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1+2', "'-1+2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['\r\n@x', '"\'\r\n@x"'],
    ['  =1', "'  =1"],
    ['\u00a0+1', "'\u00a0+1"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['=HYPERLINK("https://x.example","y")', '"\'=HYPERLINK(""https://x.example"",""y"")"'],
  ])('shows %j harmlessly', (given, shown) => {
    expect(csvLine([given])).toBe(`${shown}\r\n`)
  })

  it('quotes what would end a cell and leaves everything else alone', () => {
    expect(csvLine(['a,b', 'a;=b', 'say "x"', 'two\nlines', '<script>', 12, true, null])).toBe(
      '"a,b","a;=b","say ""x""","two\nlines",<script>,12,true,\r\n',
    )
  })
})

it('leaves numbers below zero alone: they are amounts, or references that are looked up', () => {
  expect(csvLine(['-144', '-12.50', '-1-2', '-0x1'])).toBe("-144,-12.50,'-1-2,'-0x1\r\n")
})

it('marks the heading of a file for people, whose spreadsheets would misread accents otherwise', () => {
  expect(Buffer.from(csvHeading(['día', 'b'])).toString('hex')).toBe(
    Buffer.from([0xef, 0xbb, 0xbf]).toString('hex') + Buffer.from('día,b\r\n').toString('hex'),
  )
})
