import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The product: everything that runs on a server or at a merchant. Development scripts and tests may pay. */
const PRODUCT = ['services', 'shared', 'clients']

/** What code needs that makes, reads, keeps or uses a private key. */
const PRIVATE_KEY_USE: readonly RegExp[] = [
  // Making and reading keys: BIP 32, BIP 39, WIF, keystores, ethers, Solana, node:crypto.
  /\.(fromMasterSeed|fromSeed|fromPhrase|fromMnemonic|fromEntropy|fromWIF|fromEncryptedJson|fromSecretKey|fromPrivateKey|createRandom)\b/,
  /\b(randomSecretKey|randomPrivateKey|makeRandom|keygen|generateKeyPair|generateKeyPairSync|createECDH)\b/,
  /\b(createPrivateKey|mnemonicToSeed|mnemonicToSeedSync|entropyToMnemonic|decryptKeystoreJson|SigningKey|Keypair|ECPair)\b/,
  /\b(private|secret|signing)[_ ]?keys?\b|\bprivateExtendedKey\b|\bextendedPrivateKey\b|\bxpriv\b|\b[xyztuv]prv\b/i,
  /\b(mnemonic|seed_?phrase|recovery_?phrase)\b/i,
  // Signing and sending.
  /\.(sign|signTransaction|signMessage|signTypedData|signSchnorr|signRecoverable|finalizeAllInputs)\(/,
  /\b(createSign|signSync|getPublicKey|sendTransaction|sendRawTransaction|broadcastTransaction|sendAndConfirmTransaction)\b/,
  /['"`](eth_sign|eth_send|personal_|wallet\/(create|broadcast|easy|generate|gettransactionsign|trigger(smart|account))|signraw|sendraw|sendto|dumppriv|importpriv|walletpass)/,
]

/** Where such a word stands all the same, and why that handles no private key. */
const ALLOWED: Readonly<Record<string, string>> = {
  'shared/chains/addresses/private-form.ts': 'recognises pasted private keys by their form, in order to refuse them',
  'shared/chains/addresses/extended-key.ts':
    'names the version bytes of private forms, so that they are refused by name',
  'services/checkout/web/src/wallets/evm-wallets.ts':
    "runs in the payer's browser and asks the payer's own wallet, which keeps its key, to send",
  'services/checkout/web/src/wallets/tron-wallets.ts':
    "runs in the payer's browser and asks the payer's own wallet, which keeps its key, to sign",
  'shared/chains/families/tron/payer-transfers.ts':
    'hands on what a payer signed in their own wallet, and only what pays the invoice; signs nothing',
}

/** The only doors to libraries that could do more with keys, and the only names that come through. */
const KEY_LIBRARIES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '@scure/bip32': {
    'shared/chains/addresses/child-keys.ts': ['HDKey'],
    'shared/chains/addresses/extended-key.ts': ['HDKey'],
  },
  ethers: {
    'shared/chains/addresses/address-book.ts': ['HDNodeWallet'],
    'shared/chains/ownership/signed-by-account.ts': ['recoverAddress', 'verifyMessage'],
  },
  'bitcoinjs-lib': {
    'shared/chains/addresses/address-book.ts': ['Network', 'payments'],
    'shared/chains/ownership/signed-by-script.ts': ['script', 'Transaction'],
  },
  // Divides the coordinates of points out; knows no key.
  '@noble/curves/abstract/curve.js': { 'shared/chains/addresses/child-keys.ts': ['normalizeZ'] },
  '@noble/curves/secp256k1.js': {
    'shared/chains/addresses/child-keys.ts': ['secp256k1'],
    // Whether an address can have a key at all.
    'shared/chains/addresses/unspendable.ts': ['secp256k1'],
    'shared/chains/families/evm/address.ts': ['secp256k1'],
    'shared/chains/ownership/signed-by-script.ts': ['secp256k1'],
  },
  '@noble/curves/ed25519.js': {
    'shared/chains/addresses/unspendable.ts': ['ed25519'],
    // Whether an address is a point: an account that a program derives must not be one.
    'shared/chains/families/solana/address.ts': ['ed25519'],
    'shared/chains/ownership/signed-by-account.ts': ['ed25519'],
  },
}
/** What is called of them: reading public keys, deriving public keys from public keys, checking signatures, and nothing else. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  HDKey: ['fromExtendedKey'],
  HDNodeWallet: ['fromExtendedKey'],
  secp256k1: ['Point', 'recoverPublicKey', 'verify'],
  ed25519: ['Point', 'verify'],
}
/** Any other package that knows what a key is. */
const KNOWS_KEYS =
  /bip32|bip39|bip38|ecpair|secp256k1|ed25519|curves|ethers|web3|viem|bitcoinjs|solana|tron|nacl|wallet|hdkey/i

interface Source {
  readonly path: string
  readonly text: string
}

function sourcesUnder(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) =>
        /\.(ts|js|mjs|cjs)$/.test(name) && !/\.(test|fixture)\.ts$|\.d\.ts$|(^|\/)(node_modules|dist)\//.test(name),
    )
    .map((name) => join(folder, name))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

/** Comments may speak of private keys: they do nothing. */
const isUse = (line: string): boolean => !/^\s*(\/?\*|\/\/)/.test(line) && PRIVATE_KEY_USE.some((use) => use.test(line))

/** `path:line: text` of every line that an unlisted file should not have. */
function privateKeyUses(sources: readonly Source[]): readonly string[] {
  return sources
    .filter(({ path }) => ALLOWED[path] === undefined)
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (isUse(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    )
}

/** Imports of, and uses of members of, key libraries beyond the listed ones. */
function keyLibraryUses(sources: readonly Source[]): readonly string[] {
  const uses: string[] = []
  for (const { path, text } of sources) {
    const imports = text.matchAll(/(?:import|export)\s+(?:type\s+)?([^'";]*?)\s*from\s*['"]([^'"]+)['"]/g)
    for (const [, clause = '', module = ''] of imports) {
      if (module.startsWith('#') || module.startsWith('.') || !KNOWS_KEYS.test(module)) continue
      const allowed = KEY_LIBRARIES[module]?.[path] ?? []
      const names = clause
        .replaceAll(/[{}]|\btype\b/g, '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
      uses.push(...names.filter((name) => !allowed.includes(name)).map((name) => `${path}: ${name} of ${module}`))
      for (const name of names) {
        const members = text.matchAll(new RegExp(`(?<![/\\w])${name.split(' ').at(-1)}\\.(\\w+)`, 'g'))
        for (const [, member = ''] of members) {
          if (MEMBERS[name] !== undefined && !MEMBERS[name].includes(member)) uses.push(`${path}: ${name}.${member}`)
        }
      }
    }
    for (const [, module = ''] of text.matchAll(/(?:import|require)\(\s*['"]([^'"]+)['"]/g)) {
      if (!module.startsWith('#') && !module.startsWith('.') && KNOWS_KEYS.test(module)) uses.push(`${path}: ${module}`)
    }
  }
  return uses
}

describe('private keys', () => {
  const product = PRODUCT.flatMap(sourcesUnder)

  // Guarantee: whoever takes over the server finds nothing that moves the merchants' money.
  it('are made, read, kept and used by no line of the product', () => {
    expect(product.length).toBeGreaterThan(300)
    expect(privateKeyUses(product)).toEqual([])
  })

  it('cannot come in through a library: only public keys are read and derived', () => {
    expect(keyLibraryUses(product)).toEqual([])
  })

  it('need every exception that is listed', () => {
    const needed = Object.keys(ALLOWED).filter((path) => {
      const text = readFileSync(path, 'utf8')
      return text.split('\n').some(isUse)
    })
    expect(needed).toEqual(Object.keys(ALLOWED))
  })

  it('are known to no package that the product installs', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
    const known = Object.keys(dependencies).filter((name) => KNOWS_KEYS.test(name))
    expect(known).toEqual(['@noble/curves', '@scure/bip32', 'bitcoinjs-lib', 'ethers'])
  })

  it.each([
    'const wallet = Wallet.fromPhrase(words)',
    'HDKey.fromMasterSeed(seed)',
    'await signer.signTransaction(transaction)',
    'const { privateKey } = await keyStore.read()',
    'const row = { private_key: text }',
    "await rpc('eth_sendTransaction', [transaction])",
    "await call('signrawtransactionwithwallet', [hex])",
    'generateKeyPairSync("ed25519")',
    'curve.sign(message, key)',
    "const note = 'the mnemonic is stored below'",
  ])('are seen in %s', (text) => {
    expect(privateKeyUses([{ path: 'shared/usecases/pay-out.ts', text }])).toHaveLength(1)
  })

  it.each([
    "import { Wallet } from 'ethers'",
    "import * as bip39 from '@scure/bip39'",
    "const { Keypair } = await import('@solana/web3.js')",
    "export { HDKey } from '@scure/bip32'",
  ])('are seen behind %s', (text) => {
    expect(keyLibraryUses([{ path: 'shared/usecases/pay-out.ts', text }])).toHaveLength(1)
  })

  it('are seen behind another method of an allowed library', () => {
    const text = "import { HDKey } from '@scure/bip32'\nHDKey.fromJSON(stored)"
    expect(keyLibraryUses([{ path: 'shared/chains/addresses/extended-key.ts', text }])).toEqual([
      'shared/chains/addresses/extended-key.ts: HDKey.fromJSON',
    ])
  })
})
