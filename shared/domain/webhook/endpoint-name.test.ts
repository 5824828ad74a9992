import { expect, it } from 'vitest'
import { endpointName, hostAndPath } from './endpoint-name.ts'

// Guarantee: endpoints of one host have different names wherever they are named, and no name holds a query or a password.
it.each([
  [{ url: 'http://localhost:25050/hooks/a?token=1', description: null }, 'localhost:25050/hooks/a'],
  [{ url: 'http://localhost:25050/', description: '  ' }, 'localhost:25050'],
  [{ url: 'https://u:p@shop.example/hook#x', description: 'Stock' }, 'Stock (shop.example/hook)'],
  [null, 'a deleted endpoint'],
])('names %j', (endpoint, name) => expect(endpointName(endpoint)).toBe(name))

it('keeps what is no address', () => expect(hostAndPath('shop')).toBe('shop'))
