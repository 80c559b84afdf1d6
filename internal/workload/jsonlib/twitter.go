package jsonlib

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The twitter document: the shape of a search result of that service, about
// 12 kB, with the mixture of short strings, escapes, non-ASCII text, integers
// and nulls that web services send.
type (
	timeline struct {
		Statuses []status       `json:"statuses"`
		Search   searchMetadata `json:"search_metadata"`
	}

	status struct {
		CreatedAt       string   `json:"created_at"`
		ID              int64    `json:"id"`
		IDStr           string   `json:"id_str"`
		Text            string   `json:"text"`
		Source          string   `json:"source"`
		Truncated       bool     `json:"truncated"`
		InReplyToStatus *int64   `json:"in_reply_to_status_id"`
		InReplyToName   *string  `json:"in_reply_to_screen_name"`
		User            user     `json:"user"`
		RetweetCount    int      `json:"retweet_count"`
		FavoriteCount   int      `json:"favorite_count"`
		Entities        entities `json:"entities"`
		Favorited       bool     `json:"favorited"`
		Retweeted       bool     `json:"retweeted"`
		Sensitive       bool     `json:"possibly_sensitive"`
		Lang            string   `json:"lang"`
	}

	user struct {
		ID              int64  `json:"id"`
		IDStr           string `json:"id_str"`
		Name            string `json:"name"`
		ScreenName      string `json:"screen_name"`
		Location        string `json:"location"`
		Description     string `json:"description"`
		URL             string `json:"url"`
		Protected       bool   `json:"protected"`
		Followers       int    `json:"followers_count"`
		Friends         int    `json:"friends_count"`
		Listed          int    `json:"listed_count"`
		CreatedAt       string `json:"created_at"`
		UTCOffset       *int   `json:"utc_offset"`
		TimeZone        string `json:"time_zone"`
		Verified        bool   `json:"verified"`
		Statuses        int    `json:"statuses_count"`
		ProfileImageURL string `json:"profile_image_url"`
		LinkColour      string `json:"profile_link_color"`
	}

	entities struct {
		Hashtags []hashtag `json:"hashtags"`
		URLs     []link    `json:"urls"`
		Mentions []mention `json:"user_mentions"`
	}

	hashtag struct {
		Text    string `json:"text"`
		Indices []int  `json:"indices"`
	}

	link struct {
		URL      string `json:"url"`
		Expanded string `json:"expanded_url"`
		Display  string `json:"display_url"`
		Indices  []int  `json:"indices"`
	}

	mention struct {
		ScreenName string `json:"screen_name"`
		Name       string `json:"name"`
		ID         int64  `json:"id"`
		Indices    []int  `json:"indices"`
	}

	searchMetadata struct {
		CompletedIn float64 `json:"completed_in"`
		MaxID       int64   `json:"max_id"`
		Query       string  `json:"query"`
		NextResults string  `json:"next_results"`
		Count       int     `json:"count"`
	}
)

// twitterStatuses makes the document about 12 kB long.
const twitterStatuses = 7

// twitterDocument is generated from a fixed seed: the same bytes on every machine.
func twitterDocument() *document {
	g := generator{rand.New(rand.NewPCG(7, 12_000))}
	tl := &timeline{Search: searchMetadata{
		CompletedIn: 0.087, MaxID: g.id(), Query: "%23scaling", Count: twitterStatuses,
		NextResults: "?max_id=505874847260352512&q=%23scaling&count=7&include_entities=1",
	}}
	for i := range twitterStatuses {
		tl.Statuses = append(tl.Statuses, g.status(i))
	}
	return &document{
		name:   "twitter",
		value:  tl,
		fresh:  func() any { return new(timeline) },
		probes: twitterStatuses,
		probe: func(filled any, k int) uint64 {
			statuses := filled.(*timeline).Statuses
			if k >= len(statuses) {
				return 0
			}
			s := &statuses[k]
			return uint64(s.ID) ^ uint64(s.User.Followers)<<20 ^ uint64(len(s.Text))<<8 ^ uint64(len(s.Entities.Mentions))
		},
	}
}

// generator makes up plausible fields.
type generator struct{ r *rand.Rand }

func (g generator) id() int64 { return 500_000_000_000_000_000 + g.r.Int64N(9_000_000_000_000_000) }

func (g generator) words(n int) string {
	vocabulary := strings.Fields("cores threads 並列 work \"queue\" garbage ロック share cache line & wait naïve spin <b>park</b> Größe map http://t.co/ goroutine \\o/ per second über 性能 heap")
	parts := make([]string, n)
	for i := range parts {
		parts[i] = vocabulary[g.r.IntN(len(vocabulary))]
	}
	return strings.Join(parts, " ")
}

func (g generator) date() string {
	return fmt.Sprintf("Sun Aug %02d %02d:%02d:%02d +0000 2014", 1+g.r.IntN(31), g.r.IntN(24), g.r.IntN(60), g.r.IntN(60))
}

func (g generator) name() string { return fmt.Sprintf("user_%d", g.r.IntN(1_000_000)) }

func (g generator) span() []int {
	from := g.r.IntN(100)
	return []int{from, from + 1 + g.r.IntN(30)}
}

func (g generator) status(i int) status {
	id := g.id()
	s := status{
		CreatedAt: g.date(), ID: id, IDStr: fmt.Sprint(id), Text: g.words(16),
		Source:       `<a href="http://example.com/download/client" rel="nofollow">Example for Phones</a>`,
		User:         g.user(),
		RetweetCount: g.r.IntN(500), FavoriteCount: g.r.IntN(500), Retweeted: i%3 == 0, Lang: "ja",
		Entities: entities{Hashtags: []hashtag{}, URLs: []link{}, Mentions: []mention{}},
	}
	if i%2 == 0 {
		reply, name := g.id(), g.name()
		s.InReplyToStatus, s.InReplyToName = &reply, &name
		s.Entities.Mentions = append(s.Entities.Mentions, mention{ScreenName: name, Name: g.words(2), ID: g.id(), Indices: g.span()})
	}
	for range 1 + i%2 {
		s.Entities.Hashtags = append(s.Entities.Hashtags, hashtag{Text: g.words(1), Indices: g.span()})
		short := fmt.Sprintf("http://t.co/%08x", g.r.Uint32())
		s.Entities.URLs = append(s.Entities.URLs, link{
			URL: short, Expanded: "http://example.com/articles/" + g.name() + "?from=search&page=1", Display: "example.com/articles/…", Indices: g.span(),
		})
	}
	return s
}

func (g generator) user() user {
	id := g.r.Int64N(3_000_000_000)
	offset := 32_400
	return user{
		ID: id, IDStr: fmt.Sprint(id), Name: g.words(2), ScreenName: g.name(), Location: g.words(2), Description: g.words(18),
		URL: "http://example.com/" + g.name(), Followers: g.r.IntN(100_000), Friends: g.r.IntN(5_000), Listed: g.r.IntN(300),
		CreatedAt: g.date(), UTCOffset: &offset, TimeZone: "Tokyo", Statuses: g.r.IntN(200_000),
		ProfileImageURL: "http://pbs.example.com/profile_images/" + g.name() + "/normal.jpeg", LinkColour: "1F2F3F",
	}
}
