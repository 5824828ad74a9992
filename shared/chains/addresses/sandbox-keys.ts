import type { Family } from '#shared/domain/enumerations.ts'

/**
 * Public keys of the sandbox wallet that every workspace has in test mode. They are the account keys
 * `m/44'/60'/0'`, `m/84'/1'/0'`, `m/44'/1'/0'` and `m/44'/195'/0'` (and, for Solana, the ed25519 public key) of the
 * seed SHA-512("Paymesh test-mode sandbox wallet: public, holds nothing"): anyone may know it, real money never goes there.
 */
export const SANDBOX_KEYS: Readonly<Record<Family, string>> = {
  bitcoin:
    'xpub6C5CF2JfmoKyM5pDnXXTB4Tovf3m4Ltpyno1w8hEikKxjwZcYDSa21weVogKSBtgs9c7ZAW9acJCUqbzipopvKWJBLwBxAuSeMCKVnZJjZT',
  litecoin:
    'xpub6C5CF2JfmoKyM5pDnXXTB4Tovf3m4Ltpyno1w8hEikKxjwZcYDSa21weVogKSBtgs9c7ZAW9acJCUqbzipopvKWJBLwBxAuSeMCKVnZJjZT',
  dogecoin:
    'xpub6D8sKM7DMATpbtvAJyBkcZY6dnKx6hB9q7DmPxGGkXwXe3SZ96nV23XdocWDFXdTawPbxWtgGZn8JRWW6VAum3T25evY3GAUWGbJdSNAMLi',
  evm: 'xpub6CiLHHVqxQ2Lma4MK6ySMduUUeHwLsiQ99SfWjMGNcDtsWjY4gJfA7v3esB6egbT86HtGDKD2DvzdUR3ZdH8GmLCjgVGHS92DJUiUDmNLnB',
  tron: 'xpub6CoGB3yChpuXqss4qLit2pb6m31LjcZoWYMw36wo7GNeTRM4wNRur353ofC3xdSQtQKr4bt2aEWpjupjuahnKPx4CJ5N49ASCHiB59J6Wbz',
  solana: '8k2RN3ozYhpA2T4zJg2d91c6BCnkyzV8PjqYZA6deChm',
}
