#include "commands/strings/captured_texts.h"

#include "base/memory/alloc.h"
#include "types/string.h"

void captured_texts_begin(struct captured_texts *texts, size_t capacity) {
    *texts = (struct captured_texts){.texts = mem_alloc(capacity * sizeof(*texts->texts)),
                                     .captures = mem_alloc(capacity * sizeof(struct capture *))};
}

static void add(struct captured_texts *texts, struct slice text, struct capture *capture) {
    texts->texts[texts->count] = text;
    texts->captures[texts->count++] = capture;
}

void captured_texts_add(const struct call *call, struct captured_texts *texts, struct entry *entry,
                        struct slice text) {
    if (entry && entry_is_out_of_line(entry))
        add(texts, text, work_capture_text(call, entry));
    else
        add(texts, kept_text(&texts->copies, text), NULL);
}

void captured_texts_add_own(struct captured_texts *texts, struct slice text) {
    add(texts, text, NULL);
}

void captured_texts_end(const struct work *work, struct captured_texts *texts) {
    for (size_t i = 0; i < texts->count; i++) work_end_capture(work, texts->captures[i]);
    mem_free(texts->texts);
    mem_free(texts->captures);
    kept_texts_free(&texts->copies);
}
