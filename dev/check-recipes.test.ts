import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { recipeFaults } from './check-recipes.ts'

const text = readFileSync('CONTRIBUTING.md', 'utf8')

it('accepts the recipes of this repository', () => {
  expect(recipeFaults(text)).toEqual([])
})

it('names a file that is gone', () => {
  const gone = 'services/admin/app-router.ts'
  expect(recipeFaults(text, (path) => path !== gone)).toEqual([`${gone} does not exist`])
})

it('does not pass a text in which it finds no recipes', () => {
  expect(recipeFaults('# Contributing')).toEqual([
    'only 0 of 10 recipes were found',
    'only 0 paths were found; at least 30 are expected',
  ])
})
