// What hyparquet, @google-cloud/storage and @huggingface/hub read of the hub whose address is the first argument.
import { createHash } from 'node:crypto'
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { Storage } from '@google-cloud/storage'
import { downloadFile, listFiles } from '@huggingface/hub'

const [base] = process.argv.slice(2)
const sha256 = bytes => createHash('sha256').update(bytes).digest('hex')
const rows = await parquetReadObjects({ file: await asyncBufferFromUrl({ url: `${base}/minari-datasets/parquet/values.parquet` }), columns: ['a'] })

const name = 'door-human-v0/data/main_data.hdf5'
const google = {}
for (const [how, apiEndpoint] of Object.entries({ endpoint: base, v1: undefined })) {
    if (apiEndpoint === undefined) process.env.STORAGE_EMULATOR_HOST = base
    const bucket = new Storage({ apiEndpoint, useAuthWithCustomEndpoint: false, projectId: 'none' }).bucket('minari-datasets')
    const [files] = await bucket.getFiles({ prefix: 'door-human-v0/' })
    const [bytes] = await bucket.file(name).download()
    const [part] = await bucket.file(name).download({ start: 1, end: 3, validation: false })
    google[how] = [files.map(f => f.name), sha256(bytes), part.toString(), (await bucket.file('none').exists())[0]]
}

const repo = { type: 'dataset', name: 'farama-minari/door-human-v0' }
const files = []
for await (const f of listFiles({ repo, recursive: true, hubUrl: base })) if (f.type === 'file') files.push(f.path)
const blob = await downloadFile({ repo, path: 'data/main_data.hdf5', hubUrl: base })
console.log(JSON.stringify({ sum: rows.reduce((a, r) => a + Number(r.a), 0), count: rows.length, google, files, sha256: sha256(Buffer.from(await blob.arrayBuffer())) }))
