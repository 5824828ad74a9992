import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'

/** An extended public key as a wallet exports it, and the first address that this wallet shows. */
export interface AccountKeyVector {
  /** Where the pair was published. */
  readonly source: string
  readonly family: Family
  readonly mode: Mode
  readonly key: string
  /** What the version bytes say; null where a person has to choose, and `chosen` is what the source did. */
  readonly says: ScriptType | null
  readonly chosen: ScriptType
  /** Given where the key is not at account level. */
  readonly path?: string
  readonly first: string
}

/** Published pairs of keys and addresses. */
export const ACCOUNT_KEY_VECTORS: readonly AccountKeyVector[] = [
  {
    source: "SLIP-132, Bitcoin test vectors, m/44'/0'/0'",
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj',
    says: null,
    chosen: 'p2pkh',
    first: '1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA',
  },
  {
    source: "SLIP-132, Bitcoin test vectors, m/49'/0'/0'",
    family: 'bitcoin',
    mode: 'live',
    key: 'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP',
    says: 'p2sh-p2wpkh',
    chosen: 'p2sh-p2wpkh',
    first: '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf',
  },
  {
    source: "BIP 84, test vectors, and SLIP-132, m/84'/0'/0'",
    family: 'bitcoin',
    mode: 'live',
    key: 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
    says: 'p2wpkh',
    chosen: 'p2wpkh',
    first: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  },
  {
    source: "BIP 49, test vectors, m/49'/1'/0'",
    family: 'bitcoin',
    mode: 'test',
    key: 'upub5EFU65HtV5TeiSHmZZm7FUffBGy8UKeqp7vw43jYbvZPpoVsgU93oac7Wk3u6moKegAEWtGNF8DehrnHtv21XXEMYRUocHqguyjknFHYfgY',
    says: 'p2sh-p2wpkh',
    chosen: 'p2sh-p2wpkh',
    first: '2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_electrum_seed_standard',
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub661MyMwAqRbcFWohJWt7PHsFEJfZAvw9ZxwQoDa4SoMgsDDM1T7WK3u9E4edkC4ugRnZ8E4xDZRpk8Rnts3Nbt97dPwT52CwBdDWroaZf8U',
    says: null,
    chosen: 'p2pkh',
    path: 'm',
    first: '1NNkttn1YvVGdqBW4PR6zvc3Zx3H5owKRf',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_electrum_seed_segwit',
    family: 'bitcoin',
    mode: 'live',
    key: 'zpub6nsHdRuY92FsMKdbn9BfjBCG6X8pyhCibNP6uDvpnw2cyrVhecvHRMa3Ne8kdJZxjxgwnpbHLkcR4bfnhHy6auHPJyDTQ3kianeuVLdkCYQ',
    says: 'p2wpkh',
    chosen: 'p2wpkh',
    path: "m/0'",
    first: 'bc1q3g5tmkmlvxryhh843v4dz026avatc0zzr6h3af',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_electrum_seed_segwit_passphrase',
    family: 'bitcoin',
    mode: 'live',
    key: 'zpub6nD7dvF6ArArjskKHZLmEL9ky8FqaSti1LN5maDWGwFrqwwGTp1b6ic4EHwciFNaYDmCXcQYxXSiF9BjcLCMPcaYkVN2nQD6QjYQ8vpSR3Z',
    says: 'p2wpkh',
    chosen: 'p2wpkh',
    path: "m/0'",
    first: 'bc1qx94dutas7ysn2my645cyttujrms5d9p57f6aam',
  },
  {
    source: "Electrum, tests/test_wallet_vertical.py, test_bip39_seed_bip44_standard, m/44'/0'/0'",
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub6DFh1smUsyqmYD4obDX6ngaxhd53Zx7aeFjoobebm7vbkT6f9awJWFuGzBT9FQJEWFBL7UyhMXtYzRcwDuVbcxtv9Ce2W9eMm4KXLdvdbjv',
    says: null,
    chosen: 'p2pkh',
    first: '16j7Dqk3Z9DdTdBtHcCVLaNQy9MTgywUUo',
  },
  {
    source: "Electrum, tests/test_wallet_vertical.py, test_bip39_seed_bip49_p2sh_segwit, m/49'/0'/0'",
    family: 'bitcoin',
    mode: 'live',
    key: 'ypub6XDth9u8DzXV1tcpDtoDKMf6kVMaVMn1juVWEesTshcX4zUVvfNgjPJLXrD9N7AdTLnbHFL64KmBn3SNaTe69iZYbYCqLCCNPZKbLz9niQ4',
    says: 'p2sh-p2wpkh',
    chosen: 'p2sh-p2wpkh',
    first: '35ohQTdNykjkF1Mn9nAVEFjupyAtsPAK1W',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_bip32_extended_version_bytes, standard',
    family: 'bitcoin',
    mode: 'live',
    key: 'xpub661MyMwAqRbcGH3yTb2kMQGnsLziRTJZ8vNthsVSCGbdBr8CGDWKxnGAFYgyKTzBtwvPPmfVAWJuFmxRXjSbUTg87wDkWQ5GmzpfUcN9t8Z',
    says: null,
    chosen: 'p2pkh',
    path: 'm',
    first: '19fWEVaXqgJFFn7JYNr6ouxyjZy3uK7CdK',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_bip32_extended_version_bytes, p2wpkh-p2sh',
    family: 'bitcoin',
    mode: 'live',
    key: 'ypub6QqdH2c5z7967aF6HwpNZVNJ3K9AN5J442u7VGPKaGyWEwwRWsftaqvJGkeZKNe7Jb3C9FG3dAfT94ZzFRrcGhMizGvB6Jtm3itJsEFhxMC',
    says: 'p2sh-p2wpkh',
    chosen: 'p2sh-p2wpkh',
    path: 'm',
    first: '34SAT5gGF5UaBhhSZ8qEuuxYvZ2cm7Zi23',
  },
  {
    source: 'Electrum, tests/test_wallet_vertical.py, test_bip32_extended_version_bytes, p2wpkh',
    family: 'bitcoin',
    mode: 'live',
    key: 'zpub6jftahH18ngZxsSD8JbzmaToDHHcJhHYy9RLGfHCxHMPJ3kemXqTCuaSHxc9KHJ2iE9ztirc5q212MBYy8Gd4w3KrccbgDiFKSwxFpYKEH6',
    says: 'p2wpkh',
    chosen: 'p2wpkh',
    path: 'm',
    first: 'bc1qtuynwzd0d6wptvyqmc6ehkm70zcamxpshyzu5e',
  },
]

/** Serialised keys of BIP 32, test vectors 1 and 2, with their chains. */
export const BIP32_PUBLIC_KEYS = [
  {
    chain: 'm',
    key: 'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8',
  },
  {
    chain: "m/0'",
    key: 'xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw',
  },
  {
    chain: "m/0'/1",
    key: 'xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ',
  },
  {
    chain: "m/0'/1/2'",
    key: 'xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5',
  },
  {
    chain: "m/0'/1/2'/2",
    key: 'xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV',
  },
  {
    chain: 'm/0',
    key: 'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH',
  },
  {
    chain: "m/0/2147483647'/1",
    key: 'xpub6DF8uhdarytz3FWdA8TvFSvvAh8dP3283MY7p2V4SeE2wyWmG5mg5EwVvmdMVCQcoNJxGoWaU9DCWh89LojfZ537wTfunKau47EL2dhHKon',
  },
] as const

/** Public keys that BIP 32, test vector 5, calls invalid. */
export const BIP32_INVALID_KEYS = [
  'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6LBpB85b3D2yc8sfvZU521AAwdZafEz7mnzBBsz4wKY5fTtTQBm',
  'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn',
  'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4',
  'xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ',
  'xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8',
  'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY',
] as const
