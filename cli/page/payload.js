/* Reads what heaptide wrote into the page: cli/page_write.c (base64 of zlib), cli/page_columns.c (columns). */
const payload = (() => {
  function bytesOf(base64) {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }

  async function part(id) {
    const element = document.getElementById(`data-${id}`);
    const packed = bytesOf(element.textContent);
    element.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** A reader of LEB128 numbers; whole up to 2^53, as JavaScript's numbers are. */
  function reader(bytes) {
    let at = 0;
    return {
      more: () => at < bytes.length,
      byte: () => bytes[at++],
      number() {
        let byte = bytes[at++];
        if (byte < 0x80) return byte;
        let value = byte & 0x7f;
        let scale = 128;
        do {
          byte = bytes[at++];
          value += (byte & 0x7f) * scale;
          scale *= 128;
        } while (byte >= 0x80);
        return value;
      },
      name() {
        const end = bytes.indexOf(0, at);
        const name = String.fromCharCode(...bytes.subarray(at, end));
        at = end + 1;
        return name;
      },
    };
  }

  /** Undoes zigzag: 0, 1, 2, 3 are 0, -1, 1, -2. */
  function unzigzag(number) {
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }

  const DELTA = 1;

  function columnsOf(bytes) {
    const columns = {};
    const input = reader(bytes);
    while (input.more()) {
      const name = input.name();
      const coding = input.byte();
      const values = new Float64Array(input.number());
      let last = 0;
      for (let i = 0; i < values.length; i++)
        values[i] = last = coding === DELTA ? last + unzigzag(input.number()) : input.number();
      columns[name] = values;
    }
    return columns;
  }

  /** {facts, texts, columns}; text 0 is the unknown one. */
  async function read() {
    const [facts, texts, columns] = await Promise.all(["facts", "texts", "columns"].map(part));
    const decoder = new TextDecoder();
    return {
      facts: JSON.parse(decoder.decode(facts)),
      texts: ["", ...decoder.decode(texts).split("\0").slice(0, -1)],
      columns: columnsOf(columns),
    };
  }

  return {read};
})();
